"""What the kernel does for us: namespaces, Landlock, limits. Called in the forked child, in order.

    enter_namespaces()   by the jailer, before it forks the child
    confine(...)         by the child, before it reads a byte of the submission

Each step takes what the kernel and the caller's rights allow; `grader doctor` finds out from inside
what holds. Python 3.11 has no bindings for these calls; the numbers and structs
are the kernel's own (linux/landlock.h, linux/sched.h, linux/prctl.h, linux/capability.h).
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

MEGABYTE = 1024 * 1024

#: Limits that are the same for every lab.
MAX_FILE_MB = 64  #: one file, and all of the workspace where it is a tmpfs
MAX_PROCESSES = 64
MAX_DESCRIPTORS = 256

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x8, 0x4000, 0x40000
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 24, 36, 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # on every architecture
_LANDLOCK_READ = 0b1101  # execute, read file, read directory
_CAPSET = {"x86_64": 126, "aarch64": 91}


def enter_namespaces() -> bool:
    """Leave the caller's processes, mounts, network and IPC; a child forked next is pid 1.

    Returns:
        Whether it worked. As another user than root it goes through a user namespace.
    """
    if sys.platform != "linux":
        return False
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC
    if user != 0:
        flags |= _CLONE_NEWUSER
    libc = _libc()
    if libc.unshare(flags) != 0:
        return False
    try:
        if user != 0:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return bool(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0)


def adopt_orphans() -> None:
    """Make this process the parent of what its descendants leave behind, so it can end them."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def mount_workspace(workspace: Path) -> None:
    """Put a memory file system of limited size over the workspace and a fresh /proc, if allowed.

    Both vanish with the namespace, so nothing that a submission wrote stays behind.
    """
    libc = _libc()
    flags = _MS_NOSUID | _MS_NODEV
    size = f"size={MAX_FILE_MB}m,mode=700".encode()
    libc.mount(b"tmpfs", os.fsencode(workspace), b"tmpfs", flags, size)
    libc.mount(b"proc", b"/proc", b"proc", flags | _MS_NOEXEC, None)


def confine(readable: Iterable[Path], workspace: Path, memory_mb: int, cpu_seconds: int) -> None:
    """Give up every right that a submission does not need, for good.

    Args:
        readable: files and folders that may be read and executed; all else is out of reach.
        workspace: the only folder that may be written.
        memory_mb: what may be used on top of what this process has mapped already.
        cpu_seconds: processor time, as a net below the parent's wall clock.
    """
    _limit(memory_mb, cpu_seconds)
    if sys.platform != "linux":
        return
    libc = _libc()
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _landlock(readable, workspace)
    _drop_capabilities()


def _limit(memory_mb: int, cpu_seconds: int) -> None:
    """Set the resource limits; memory counts from what the warm process maps already."""
    size = _mapped()
    slack = 256 * MEGABYTE  # arenas and thread stacks reserve address space they never touch
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: MAX_FILE_MB * MEGABYTE,
        resource.RLIMIT_NOFILE: MAX_DESCRIPTORS,
        resource.RLIMIT_CPU: cpu_seconds,
    }
    if size is not None:
        wanted[resource.RLIMIT_AS] = size["VmSize"] + memory_mb * MEGABYTE + slack
        wanted[resource.RLIMIT_DATA] = size["VmData"] + memory_mb * MEGABYTE
    if os.getpid() == 1:  # elsewhere the limit would count all processes of the user
        wanted[resource.RLIMIT_NPROC] = MAX_PROCESSES
    for limit, value in wanted.items():
        hard = resource.getrlimit(limit)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (bound, bound))


def _mapped() -> dict[str, int] | None:
    """Bytes of address space and of data of this process, None where /proc does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    rows = dict(line.split(":", 1) for line in lines if line.startswith("Vm"))
    return {name: int(row.split()[0]) * 1024 for name, row in rows.items()}


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(_LANDLOCK_CREATE, None, 0, 1)))


def _landlock(readable: Iterable[Path], workspace: Path) -> None:
    """Restrict this process to the paths, and to no TCP where the kernel's version has that."""
    abi = landlock_abi()
    if abi < 3:  # before 3 a file outside could still be truncated: no protection to speak of
        return
    access = (1 << (16 if abi >= 5 else 15)) - 1
    network = 0b11 if abi >= 4 else 0
    scope = 0b11 if abi >= 6 else 0
    attributes = struct.pack("=QQQ", access, network, scope)[
        : 8 if abi < 4 else 16 if abi < 6 else 24
    ]
    libc = _libc()
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0)
    if rules < 0:
        return
    allowed = [(path, _LANDLOCK_READ) for path in readable] + [(workspace, access)]
    for device in ("/dev/null", "/dev/zero", "/dev/full"):
        allowed.append((Path(device), 0b110))
    for path, rights in allowed:
        _allow(rules, path, rights)
    libc.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: Path, rights: int) -> None:
    """Add a path to a Landlock rule set; one that is not there needs no rule."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= 0b1100000000000111  # what applies to a file: execute, write, read, cut, ioctl
            rights &= (1 << 15) - 1
        _libc().syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)


def _drop_capabilities() -> None:
    """Give up every capability, so that root inside is nobody outside."""
    libc = _libc()
    for capability in range(64):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    number = _CAPSET.get(os.uname().machine)
    if number is not None:
        libc.syscall(number, struct.pack("=Ii", 0x20080522, 0), bytes(24))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
