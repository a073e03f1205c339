"""Looks at the memory, files and descriptors of process 1 and of its parent. Status: ok

Held by: several
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
words = []


def attempt(name, action):
    try:
        if action():
            words.append(name)
    except OSError:
        pass


def read(path):
    with open(path, "rb") as stream:
        return stream.read(64)


def take_descriptor(pid):
    handle = os.pidfd_open(pid)
    return libc.syscall(438, handle, 0, 0) >= 0  # pidfd_getfd


for pid in {1, os.getppid()} - {0, os.getpid()}:
    for access in ("rb", "r+b"):
        attempt(f"memory of {pid}, {access}", lambda: open(f"/proc/{pid}/mem", access, buffering=0))
    for place in ("root", "cwd", "map_files"):
        attempt(f"{place} of {pid}", lambda: os.listdir(f"/proc/{pid}/{place}/"))
    for link in ("root", "cwd", "exe", "fd/0", "fd/3"):
        attempt(f"{link} of {pid}", lambda: os.readlink(f"/proc/{pid}/{link}"))
    for file in ("environ", "maps", "auxv", "root/etc/passwd"):
        attempt(f"{file} of {pid}", lambda: read(f"/proc/{pid}/{file}"))
    attempt(f"descriptor of {pid}", lambda: take_descriptor(pid))
print("process 1", words)
