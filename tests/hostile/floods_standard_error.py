"""Floods standard error from below Python. Status: output

Held by: caps
"""

import os

while True:
    os.write(2, b"y" * 65536)
