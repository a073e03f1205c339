"""seccomp: a filter of system calls, as a classic BPF program for x86-64 and aarch64.

What no submission needs is refused with EPERM, which Python shows as a PermissionError; another
architecture's table, and x86-64's second one (x32), end the process. From linux/seccomp.h,
linux/filter.h and the kernel's tables of system calls; None where an architecture has no such call.
"""

from __future__ import annotations

import ctypes
import os
import struct

from grader import kernel

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_MODE_FILTER = 2
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000 | 0x00000080  # CLONE_NEW* of clone(2), with CLONE_NEWTIME

_CLONE, _CLONE3 = (56, 220), 435

#: Refused always: (x86-64, aarch64).
_DENIED: dict[str, tuple[int | None, int | None]] = {
    # the network: socketpair stays, which threads and processes use among themselves
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    # other processes' memory and descriptors
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # other programs
    "execve": (59, 221), "execveat": (322, 281), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "uselib": (134, None), "personality": (135, 92),
    # parts of the kernel with a history
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "modify_ldt": (154, None),
    "iopl": (172, None), "ioperm": (173, None), "nfsservctl": (180, 42), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "acct": (163, 89),
    # the machine
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "swapon": (167, 224), "swapoff": (168, 225), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    # System V objects and message queues outlive a process
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    # device files
    "mknod": (133, None), "mknodat": (259, 33),
}  # fmt: skip

#: Refused where there is no mount namespace: Landlock leaves metadata alone.
_DENIED_OUTSIDE_MOUNTS: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88), "futimesat": (261, None),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip

#: Refused but on the process itself (first argument).
_OWN_PROCESS_ONLY: dict[str, tuple[int | None, int | None]] = {
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
}  # fmt: skip
#: Likewise, where there is no process namespace.
_OWN_SIGNALS_ONLY: dict[str, tuple[int | None, int | None]] = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
_OTHERS_ONLY: dict[str, tuple[int | None, int | None]] = {
    "pidfd_send_signal": (424, 424), "setpriority": (141, 140), "ioprio_set": (251, 30),
}  # fmt: skip


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def install(*, own_processes: bool, own_mounts: bool) -> bool:
    """Filter this process's system calls, for good; needs no_new_privs.

    Args:
        own_processes: whether the process is in a process namespace of its own.
        own_mounts: whether it is in a mount namespace of its own.

    Returns:
        Whether the filter is in force; not on other architectures.
    """
    if kernel.MACHINE not in _ARCHITECTURES:
        return False
    code = program(kernel.MACHINE, os.getpid(), own_processes, own_mounts)
    buffer = ctypes.create_string_buffer(code, len(code))
    filter_ = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    libc = kernel.libc()
    return bool(libc.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filter_), 0, 0) == 0)


def program(machine: str, pid: int, own_processes: bool, own_mounts: bool) -> bytes:
    """The filter's instructions, eight bytes each (struct sock_filter)."""
    column, architecture = _ARCHITECTURES[machine]
    denied, own_only = dict(_DENIED), dict(_OWN_PROCESS_ONLY)
    lines = [
        _line(_LOAD, _ARCH),
        _line(_JUMP_EQUAL, architecture, true=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NR),
    ]
    if machine == "x86_64":
        lines += [_line(_JUMP_AT_LEAST, _X32, false=1), _line(_RETURN, _KILL)]
    lines += _clone(_CLONE[column])
    # clone3's flags lie in memory, out of a filter's reach; glibc falls back to clone
    lines += [_line(_JUMP_EQUAL, _CLONE3, false=1), _line(_RETURN, _ERRNO | _ENOSYS)]
    if not own_mounts:
        denied |= _DENIED_OUTSIDE_MOUNTS
    if not own_processes:
        denied |= _OTHERS_ONLY
        own_only |= _OWN_SIGNALS_ONLY
    for numbers in own_only.values():
        lines += _own_only(numbers[column], pid)
    for numbers in denied.values():
        if numbers[column] is not None:
            lines += [_line(_JUMP_EQUAL, numbers[column], false=1), _refuse()]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _clone(number: int) -> list[bytes]:
    """Processes and threads may be made, namespaces not."""
    return [
        _line(_JUMP_EQUAL, number, false=4),
        _line(_LOAD, _ARGUMENT),
        _line(_JUMP_ANY_BIT, _NEW_NAMESPACES, false=1),
        _refuse(),
        _line(_RETURN, _ALLOW),
    ]


def _own_only(number: int | None, pid: int) -> list[bytes]:
    """Allow a call on process 0, which means oneself, or on one's own number."""
    if number is None:
        return []
    return [
        _line(_JUMP_EQUAL, number, false=5),
        _line(_LOAD, _ARGUMENT),
        _line(_JUMP_EQUAL, pid, true=2),
        _line(_JUMP_EQUAL, 0, true=1),
        _refuse(),
        _line(_RETURN, _ALLOW),
    ]


def _refuse() -> bytes:
    return _line(_RETURN, _ERRNO | _EPERM)


def _line(code: int, value: int | None, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)
