"""Announces a frame of many gigabytes. Status: crashed

Held by: caps
"""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("<4sIQ", b"GRD1", 10, 2**62))
    except OSError:
        pass
