"""Writes what is no frame to the pipe for values. Status: crashed

Held by: caps
"""

import os

for descriptor in range(3, 256):
    try:
        os.write(descriptor, b"\xff" * 4096)
    except OSError:
        pass
