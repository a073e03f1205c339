"""Reads from every descriptor and follows each to its file. Status: ok

Held by: values
"""

import os
import re
import select

marker = re.compile(rb"PLANTED-[a-z]+-[0-9a-f]{8}")
found = set()
for descriptor in range(256):
    try:
        link = os.readlink(f"/proc/self/fd/{descriptor}")
        if select.select([descriptor], [], [], 0)[0]:
            found.update(marker.findall(os.read(descriptor, 1 << 20)))
        with open(link, "rb") as stream:
            found.update(marker.findall(stream.read(1 << 20)))
    except (OSError, ValueError):
        continue
words = [text.decode() for text in found]
print("descriptors", words)
