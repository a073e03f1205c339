"""Sends small frames of no meaning without end, each of them a sign of life. Status: crashed

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


while True:
    send(b"{}")
