"""Answers many thousand questions, with names that no file should have. Status: crashed

Held by: caps
"""

import os
import struct


def send(text):
    frame = struct.pack("<4sIQ", b"GRD1", len(text), 0) + text
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, frame)
        except OSError:
            pass


for number in range(100_000):
    send(b'{"kind": "fault", "probe": "../\\ud800%d", "message": "%s"}' % (number, b"x" * 3000))
