"""Namespaces: own processes, network and System V objects, and a file system with little in it.

    leave()        by the jailer: what it forks next is in a new world, with a process 1 that waits
    build_root()   by the child: a new root with read-only views of what may be read
    become()       by the child: a user of its own, where the caller is root

From linux/sched.h, linux/mount.h. Not pathlib: what a fork executes it pays for in copied pages.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH211, S103

from __future__ import annotations

import functools
import os
import signal
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from grader import kernel

_NEWNS, _NEWIPC, _NEWUSER = 0x20000, 0x8000000, 0x10000000
_NEWPID, _NEWNET = 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = -100, 0x8000, 1, 2, 4
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
#: Signals that Python has handlers for, which process 1 would run in our memory; and its dead.
_TAKEN = (signal.SIGINT, signal.SIGCHLD)
_DEVICES = (b"dev/null", b"dev/zero", b"dev/full", b"dev/random", b"dev/urandom")
#: Users for submissions where the caller is root: one a run, so that limits count each alone.
_FIRST_USER, _USERS = 61000, 1000


def leave() -> int | None:
    """Put all that this process forks from now on into namespaces of their own.

    Where it is not root, by a user namespace. Process 1 in there only waits: it takes no signal,
    and what is orphaned is buried by the kernel. When it is killed, all in there are.

    Returns:
        The number of process 1, None where there are no namespaces to be had.
    """
    if sys.platform != "linux":
        return None
    user, group = os.geteuid(), os.getegid()
    flags = _NEWPID | _NEWNET | _NEWIPC | (_NEWUSER if user != 0 else 0)
    if kernel.libc().unshare(flags) != 0:
        return None
    if user != 0:
        try:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        except OSError:  # AppArmor lets the namespace be made and takes its rights away
            return None
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # process 1 shares our memory: nobody may look into it
    taken = {number: signal.signal(number, signal.SIG_IGN) for number in _TAKEN}
    init = kernel.start_idler()
    for number, handler in taken.items():
        signal.signal(number, handler)
    return init if init > 0 else None


def user_for(run: int) -> int:
    """The user that a run's processes get where the caller is root."""
    return _FIRST_USER + run % _USERS


class View(NamedTuple):
    """How what may be read is laid out below a new root; paths as bytes, relative to it."""

    folders: tuple[bytes, ...]  #: to be made, the outer ones first
    files: tuple[bytes, ...]  #: to be made, empty
    links: tuple[tuple[bytes, bytes], ...]  #: to be made, with what they say
    shown: tuple[bytes, ...]  #: folders and files to be covered by the real ones


@functools.cache
def view(readable: tuple[Path, ...]) -> View:
    """Lay out what may be read: each at its own place, and links as links.

    It is worked out once, in the process that all runs are forked from.
    """
    folders: dict[Path, None] = {}
    files, links, shown = [], {}, []
    for path in readable:
        whole = [*reversed(path.parents), path]
        link = next((part for part in whole if part.is_symlink()), None)
        if not path.exists() or path.parts[1] in ("proc", "dev"):
            continue
        above = (link or path).parents
        folders.update(dict.fromkeys(reversed(above)))
        if link is not None:  # what it leads to is listed by its real place
            links[link] = link.readlink()
            continue
        if path.is_dir():
            folders[path] = None
        else:
            files.append(path)
        shown.append(path)
    return View(
        folders=tuple(_inside(path) for path in folders if path != Path("/")),
        files=tuple(map(_inside, files)),
        links=tuple((_inside(path), os.fsencode(target)) for path, target in links.items()),
        shown=tuple(map(_inside, shown)),
    )


def _inside(path: Path) -> bytes:
    return os.fsencode(path.relative_to("/"))


def build_root(readable: tuple[Path, ...], workspace: Path, size_mb: int, owner: int) -> bool:
    """Leave the caller's file system for a new, small one in memory.

    It holds read-only views of `readable`, a fresh /proc, a few devices, and `workspace`, /tmp and
    /dev/shm, which share one memory file system of a limited size and vanish with the process.

    Returns:
        Whether it worked; if not, the process is where it was, or must not go on.
    """
    libc = kernel.libc()
    if libc.unshare(_NEWNS) != 0:
        return False
    _mount(b"none", b"/", None, _REC | _PRIVATE)
    _mount(
        b"tmpfs", os.fsencode(workspace), b"tmpfs", _NOSUID | _NODEV, b"size=%dm,mode=755" % size_mb
    )
    os.chdir(workspace)  # an empty folder of ours; what is mounted here is seen by nobody else
    _show(view(readable))
    os.mkdir(b"proc")
    _mount(b"proc", b"proc", b"proc", _NOSUID | _NODEV | _NOEXEC)
    os.mkdir(b"dev")
    for name in _DEVICES:
        _touch(name)
        _mount(b"/" + name, name, None, _BIND)
    for inside in (os.fsencode(workspace)[1:], b"tmp", b"dev/shm"):
        os.makedirs(inside, exist_ok=True)
        os.chmod(inside, 0o1777)
        os.chown(inside, owner, -1)
    number = _PIVOT_ROOT[kernel.MACHINE]
    kernel.check(libc.syscall(number, b".", b"."), "pivot_root")
    kernel.check(libc.umount2(b".", _DETACH), "umount2")
    os.chdir("/")
    return True


def _show(seen: View) -> None:
    """Make the views below the working directory, read-only."""
    for folder in seen.folders:
        os.mkdir(folder)
    for file in seen.files:
        _touch(file)
    for link, target in seen.links:
        os.symlink(target, link)
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    set_attributes = kernel.libc().syscall
    for path in seen.shown:
        _mount(b"/" + path, path, None, _BIND | _REC)
        result = set_attributes(
            _MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, len(attributes)
        )
        kernel.check(result, f"read-only view of {path!r}")


def _touch(path: bytes) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def _mount(
    source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None
) -> None:
    result = kernel.libc().mount(source, target, kind, flags, options)
    kernel.check(result, f"mount {target!r}")


def become(user: int) -> None:
    """Become a user with no rights at all, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
