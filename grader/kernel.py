"""The few kernel calls that Python 3.11 has no name for: `libc()`, and `syscall` by number.

The numbers and flags in `namespaces`, `landlock` and `seccomp` are the kernel's own.
"""

from __future__ import annotations

import ctypes
import os

MACHINE = os.uname().machine if hasattr(os, "uname") else ""

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


def libc() -> ctypes.CDLL:
    """The C library, with errno kept."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int = 0) -> bool:
    """Set an attribute of this process; whether the kernel did."""
    return bool(libc().prctl(option, value, 0, 0, 0) == 0)


def check(result: int, what: str) -> int:
    """The result of a call, or OSError with its reason."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result
