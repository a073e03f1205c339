"""Asks for namespaces, in which it would be root. Status: ok

Held by: seccomp, container: several
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
words = []
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):
    if os.fork() == 0:
        os._exit(libc.unshare(flag) == 0 or libc.unshare(flag | 0x10000000) == 0)
    if os.waitstatus_to_exitcode(os.wait()[1]):
        words.append(hex(flag))
print("namespaces", words)
