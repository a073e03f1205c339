"""Sends headers that are small as text and large as objects. Status: crashed

Held by: caps
"""

import os
import struct


def send(text):
    frame = struct.pack("<4sIQ", b"GRD1", len(text), 0) + text
    for descriptor in range(3, 256):
        try:
            rest = memoryview(frame)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            pass


for number in range(100):
    lists = b"[" + b'[],{"dict": []},' * 130_000 + b"0]"
    send(b'{"kind": "value", "probe": "p%d", "value": %s}' % (number, lists))
