"""Namespaces: own processes, network and System V objects, and a file system with little in it.

    leave()        by the jailer: what it forks next is process 1 of a new world
    build_root()   by that process: a new root with read-only views of what may be read
    become()       by the submission's process: a user of its own, where the caller is root

From linux/sched.h, linux/mount.h.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from grader import kernel

_NEWNS, _NEWIPC, _NEWUSER = 0x20000, 0x8000000, 0x10000000
_NEWPID, _NEWNET = 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = -100, 0x8000, 1, 2, 4
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_DEVICES = ("null", "zero", "full", "random", "urandom")
#: Users for submissions where the caller is root: one a run, so that limits count each alone.
_FIRST_USER, _USERS = 61000, 1000


def leave() -> bool:
    """Put the next child into namespaces of its own; where not root, by a user namespace.

    Returns:
        Whether it worked.
    """
    if sys.platform != "linux":
        return False
    user, group = os.geteuid(), os.getegid()
    flags = _NEWPID | _NEWNET | _NEWIPC | (_NEWUSER if user != 0 else 0)
    if kernel.libc().unshare(flags) != 0:
        return False
    if user != 0:
        try:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        except OSError:  # AppArmor lets the namespace be made and takes its rights away
            return False
    return True


def user_for(run: int) -> int:
    """The user that a run's processes get where the caller is root."""
    return _FIRST_USER + run % _USERS


def build_root(readable: Iterable[Path], workspace: Path, size_mb: int, owner: int) -> bool:
    """Leave the caller's file system for a new, small one in memory.

    It holds read-only views of `readable`, a fresh /proc, a few devices, and `workspace`, /tmp and
    /dev/shm, which share one memory file system of a limited size and vanish with the process.

    Returns:
        Whether it worked; if not, the process is where it was, or must not go on.
    """
    libc = kernel.libc()
    if libc.unshare(_NEWNS) != 0:
        return False
    _mount("none", Path("/"), None, _REC | _PRIVATE)
    root = workspace  # an empty folder of ours; what is mounted here is seen by nobody else
    _mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, f"size={size_mb}m,mode=755")
    for path in readable:
        _view(path, root)
    devices = root / "dev"
    devices.mkdir(exist_ok=True)
    for name in _DEVICES:
        (devices / name).touch()
        _mount(f"/dev/{name}", devices / name, None, _BIND)
    (root / "proc").mkdir()
    _mount("proc", root / "proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for path in (workspace, Path("/tmp"), Path("/dev/shm")):  # noqa: S108 - inside the new root
        inside = root / path.relative_to("/")
        inside.mkdir(parents=True, exist_ok=True)
        inside.chmod(0o1777)
        os.chown(inside, owner, -1)
    os.chdir(root)
    number = _PIVOT_ROOT[kernel.MACHINE]
    kernel.check(libc.syscall(number, b".", b"."), "pivot_root")
    kernel.check(libc.umount2(b".", _DETACH), "umount2")
    os.chdir("/")
    return True


def _view(path: Path, root: Path) -> None:
    """Show a file or folder at the same place below the new root, read-only; a link as a link."""
    inside = root / path.relative_to("/")
    if not path.exists() or inside.exists():
        return
    for parent in reversed(path.parents):
        if parent.is_symlink():  # what it leads to is listed by its real place
            _link(parent, root)
            return
    if path.is_symlink():
        _link(path, root)
        return
    inside.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        inside.mkdir()
    else:
        inside.touch()
    _mount(str(path), inside, None, _BIND | _REC)
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    kernel.check(
        kernel.libc().syscall(
            _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(inside), _AT_RECURSIVE, attributes, 32
        ),
        f"read-only view of {path}",
    )


def _link(path: Path, root: Path) -> None:
    inside = root / path.relative_to("/")
    if not inside.is_symlink():
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.symlink_to(path.readlink())


def _mount(
    source: str, target: Path, kind: str | None, flags: int, options: str | None = None
) -> None:
    encoded = [text.encode() if text is not None else None for text in (kind, options)]
    result = kernel.libc().mount(
        os.fsencode(source), os.fsencode(target), encoded[0], flags, encoded[1]
    )
    kernel.check(result, f"mount {target}")


def become(user: int) -> None:
    """Become a user with no rights at all, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
