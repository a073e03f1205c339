"""Looks for tokens in its own environment and in that of every process. Status: ok

Held by: namespaces or landlock and capabilities, container: landlock and capabilities
"""

import glob
import os
import re

marker = re.compile(rb"PLANTED-[a-z]+-[0-9a-f]{8}")
found = set(marker.findall(repr(dict(os.environ)).encode()))
for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/proc/*/task/*/environ"):
    for path in glob.glob(pattern):
        try:
            with open(path, "rb") as stream:
                found.update(marker.findall(stream.read()))
        except OSError:
            continue
words = [text.decode() for text in found]
print("environments", words)
