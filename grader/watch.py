"""The jailer's watch over a run: `watch(init, leash, plan) -> why it was stopped, what it used`.

It sees the whole tree of processes from outside, since no limit of the kernel but a control group's
counts the memory of many processes together. Everything is dead when it returns.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from pathlib import Path
from typing import Literal

from grader.sandbox import MAX_FILE_MB, MAX_PROCESSES, MEGABYTE, Plan

Reason = Literal["leash", "memory", "processes", "disk"]

_PERIOD = 0.1  #: seconds between two looks
_REST = 1.0  #: a look that took long is followed by this many times its length without one
_LAST_WORDS = 0.5  #: seconds for init to bury a killed child
_ALONE = 2  #: init and the child: what they use is limited by the kernel
_MAX_FILES = 10_000  #: in a workspace that is an ordinary folder
_MAX_PATH = 3_500  #: characters; what lies below the system's 4,096 cannot be seen by its path


def watch(init: int, leash: int, plan: Plan) -> tuple[Reason | None, list[resource.struct_rusage]]:
    """Wait until init has ended, or end it, and then whatever it left behind.

    Args:
        init: the run's first process, a child of this one.
        leash: a pipe's reading end; when the other end closes, the run is to end.
        plan: what the run may use; memory on top of the pages that it shares with this process.

    Returns:
        Why the run was stopped, None where it ended by itself; and what init used, with all that
        it or its namespace's end waited for, followed by what each orphan used.
    """
    handle = os.pidfd_open(init)
    try:
        stopped = _look(init, handle, leash, plan)
    except BaseException:  # a fault of ours must not leave the run without a watch
        _end(init)
        raise
    if stopped is not None:  # init tells what those it waits for have used, a namespace's end not
        _kill(_descendants(init)[1:])
        select.select([handle], [], [], _LAST_WORDS)
    return stopped, _end(init)


def _look(init: int, handle: int, leash: int, plan: Plan) -> Reason | None:
    """Look again and again until init has ended, or there is a reason to end it."""
    pause = _PERIOD
    while True:
        ready, _, _ = select.select([handle, leash], [], [], pause)
        if handle in ready:
            return None
        start = time.monotonic()
        stopped = "leash" if leash in ready else _excess(init, plan)
        if stopped is not None:
            return stopped
        pause = max(_PERIOD, _REST * (time.monotonic() - start))


def _excess(init: int, plan: Plan) -> Reason | None:
    """What the tree has too much of. A lone child is not measured: its limits hold it."""
    if _too_much_on_disk(plan.workspace):
        return "disk"
    tree = _descendants(init)
    if len(tree) <= _ALONE:
        return None
    if len(tree) > MAX_PROCESSES + _ALONE:
        return "processes"
    used = sum(_proportional_mb(pid) for pid in tree)
    return "memory" if used > plan.memory_mb + _resident_mb() else None


def _too_much_on_disk(workspace: Path) -> bool:
    """Whether a workspace on disk has grown too large; one in memory looks empty from here."""
    count, size = 0, 0
    folders = [str(workspace)]
    for place in folders:  # not os.walk, which calls itself and so fails in what is deep
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):  # gone meanwhile
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
        too_much = count > _MAX_FILES or size > 2 * MAX_FILE_MB * MEGABYTE
        if too_much or len(place) > _MAX_PATH:
            return True
    return False


def _end(init: int) -> list[resource.struct_rusage]:
    """Kill init, with it its namespace, and what escaped where there is none; what they used."""
    used = []
    _kill([init])
    while True:  # a subreaper gets every orphan, and each may still fork while we look
        _kill(_descendants(os.getpid())[1:])
        try:
            used.append(os.wait4(-1, 0)[2])
        except ChildProcessError:
            return used


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{each}/task/{each}/children").read_text()
            found += map(int, children.split())
    return found


def _proportional_mb(pid: int) -> float:
    """A process's memory, each shared page divided by those who share it; 0 where it is gone.

    Where the kernel keeps that from us, what it holds beyond this process, a fork like itself.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        rows = dict(line.split(":", 1) for line in lines[1:])
        return int(rows["Pss"].split()[0]) / 1024
    except PermissionError:
        return max(0.0, _resident_mb(pid) - _resident_mb())
    except (OSError, KeyError):
        return 0.0


def _resident_mb(pid: int | str = "self") -> float:
    """A process's pages in memory; our own bound what the run could share with the zygote."""
    with contextlib.suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2
    return 0.0
