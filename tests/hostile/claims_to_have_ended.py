"""Says that everything was asked and goes on. Status: timeout

Held by: deadline
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


send(b'{"kind": "script", "status": "ok"}')
send(b'{"kind": "end"}')
while True:
    pass
