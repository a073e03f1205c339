"""Mounts, unmounts and changes root. Status: ok

Held by: several
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
words = []
if libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0:
    words.append("mounted")
if libc.umount2(b"/proc", 2) == 0:
    words.append("unmounted")
if libc.chroot(b"/tmp") == 0:
    words.append("changed root")
print("mounts", words)
