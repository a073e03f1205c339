"""Landlock: this process and its children may touch the given paths alone, and no TCP port.

From linux/landlock.h. An ABI below 3 lets a file outside be truncated, so it counts as none.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from grader import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = (
    1,
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 14,
    1 << 15,
)
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MIN_ABI = 3


def abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(kernel.libc().syscall(_CREATE, None, 0, 1)))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Give up every other path, TCP, and signals and abstract sockets to outside, for good.

    Args:
        readable: files and folders that may be read and executed.
        writable: folders that may be changed as well.

    Returns:
        Whether the restriction is in force.
    """
    version = abi()
    if version < _MIN_ABI:
        return False
    access = (1 << (16 if version >= 5 else 15)) - 1  # 5: ioctl on devices
    network = 0b11 if version >= 4 else 0  # bind and connect
    scope = 0b11 if version >= 6 else 0  # abstract sockets and signals
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("=QQQ", access, network, scope)[:size]
    libc = kernel.libc()
    rules = libc.syscall(_CREATE, attributes, len(attributes), 0)
    if rules < 0:
        return False
    devices = [Path("/dev", name) for name in ("null", "zero", "full")]
    allowed = [(path, _READ) for path in readable]
    allowed += [(path, access) for path in writable]
    allowed += [(path, _READ_FILE | _WRITE_FILE) for path in devices]
    for path, rights in allowed:
        _allow(rules, path, rights & access)
    done = bool(libc.syscall(_RESTRICT, rules, 0) == 0)
    os.close(rules)
    return done


def _allow(rules: int, path: Path, rights: int) -> None:
    """Add a path to a rule set; one that is not there needs no rule."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _ON_FILES
        beneath = struct.pack("=Qi", rights, handle)
        kernel.check(kernel.libc().syscall(_ADD, rules, 1, beneath, 0), f"Landlock on {path}")
    finally:
        os.close(handle)
