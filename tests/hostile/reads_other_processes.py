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
        with open(f"{path}/mem", "rb", buffering=0) as memory:
            memory.seek(0x400000)
            memory.read(16)
        words.append("memory of another process")
    except OSError:
        pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        words.append("traced another process")
print("processes", words)
