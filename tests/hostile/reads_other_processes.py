"""Reads the memory of every other process, by file and by system call. Status: ok

Held by: several
"""

import ctypes
import glob
import os
import re

marker = re.compile(rb"PLANTED-[a-z]+-[0-9a-f]{8}")
libc = ctypes.CDLL(None, use_errno=True)
words = []
for path in glob.glob("/proc/[0-9]*"):
    pid = int(path.rsplit("/", 1)[1])
    if pid == os.getpid():
        continue
    try:
        open(f"{path}/mem", "rb", buffering=0).close()  # it is here that the kernel says no
        words.append("memory of another process")
    except OSError:
        pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        words.append("traced another process")
print("processes", words)
