"""Leaves folders that may not be read, with names that are no text. Status: ok

Held by: end
"""

import os

for name in (b"a\nb", b"\xff\xfe", b"\x1b[31m", b"x" * 255):
    os.mkdir(name)
    os.umask(0o777)
    os.mkdir(name + b"/closed" if len(name) < 255 else b"closed")
    with open(name + b"/" + name, "w") as stream:
        stream.write("x")
    os.umask(0)
