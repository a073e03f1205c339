"""Calls the kernel through the table of another architecture. Status: blocked

Held by: seccomp
"""

import ctypes

ctypes.CDLL(None).syscall(0x40000000 + 39)
