"""The few kernel calls that Python 3.11 has no name for: `libc()`, and `syscall` by number.

The numbers and flags in `namespaces`, `landlock` and `seccomp` are the kernel's own.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
from pathlib import Path

MACHINE = os.uname().machine if hasattr(os, "uname") else ""

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_LARGE_PAGE = 2 * 1024 * 1024
_MADV_COLLAPSE = 25
_CLONE_VM = 0x100
_STACK = 64 * 1024  #: bytes, of a process that only waits


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library, with errno kept."""
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _with_the_gil() -> ctypes.PyDLL:
    return ctypes.PyDLL(None)


def prctl(option: int, value: int = 0) -> bool:
    """Set an attribute of this process; whether the kernel did."""
    return bool(libc().prctl(option, value, 0, 0, 0) == 0)


def check(result: int, what: str) -> int:
    """The result of a call, or OSError with its reason."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def fork() -> int:
    """Fork as `os.fork` does, for a process of one thread that needs no hooks in its child.

    The hooks mend locks that another thread may hold; they touch, and so copy, 500 pages.
    """
    return int(_with_the_gil().fork())


def start_idler() -> int:
    """Start a process that waits until it is killed; it shares this one's memory and costs nothing.

    It keeps what this process does about each signal at the time.

    Returns:
        Its number, or -1 where there can be none.
    """
    malloc = libc()["malloc"]
    malloc.restype = ctypes.c_void_p
    stack = malloc(ctypes.c_size_t(_STACK))  # in use to the end
    top = ctypes.c_void_p((stack + _STACK) & ~0xFF)
    return int(libc().clone(libc().pause, top, _CLONE_VM | signal.SIGCHLD, None))


def use_large_pages() -> None:
    """Move this process's own memory into large pages, where the kernel can (Linux 6.1 or newer).

    A fork copies a page table entry for each page: of 250 MB, 120 entries in place of 60,000. What
    a forked process writes to later is still copied in small pages.
    """
    advise = libc().madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if inode != "0" or not rights.startswith("rw") or name not in ([], ["[heap]"]):
            continue
        start, end = (int(part, 16) for part in span.split("-"))
        first = -(-start // _LARGE_PAGE) * _LARGE_PAGE
        for place in range(first, end - _LARGE_PAGE + 1, _LARGE_PAGE):
            advise(ctypes.c_void_p(place), ctypes.c_size_t(_LARGE_PAGE), _MADV_COLLAPSE)
