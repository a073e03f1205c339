"""Reads every small file that it can reach, libraries apart. Status: ok

Held by: root or landlock, container: landlock
"""

import os
import re

marker = re.compile(rb"PLANTED-[a-z]+-[0-9a-f]{8}")
found = set()
skipped = {"proc", "sys", "site-packages", "share", "lib", "lib64", "include", "dist-packages"}
roots = ["/", os.getcwd(), os.path.dirname(os.getcwd()), *filter(None, os.environ.values())]
for root in roots:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in skipped]
        for name in names:
            path = os.path.join(place, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 200_000:
                    with open(path, "rb") as stream:
                        found.update(marker.findall(stream.read()))
            except OSError:
                continue
words = [text.decode() for text in found]
print("files", words)
