"""The jailer's watch over a run: `watch(child, init, leash, plan) -> End`.

It sees the whole tree of processes from outside, since no limit of the kernel but a control group's
counts the memory of many processes together. Everything is dead when it returns.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from grader.sandbox import MAX_FILE_MB, MAX_PROCESSES, MEGABYTE, Plan

Reason = Literal["leash", "memory", "processes", "disk"]

_PERIOD = 0.1  #: seconds between two looks
_REST = 1.0  #: a look that took long is followed by this many times its length without one
_MAX_FILES = 10_000  #: in a workspace that is an ordinary folder
_MAX_PATH = 3_500  #: characters; what lies below the system's 4,096 cannot be seen by its path


@dataclass
class End:
    """How a run ended, and what it used."""

    exit: int = 0  #: the child's exit status, or minus the signal that ended it
    stopped: Reason | None = None  #: why it was stopped, None where it ended by itself
    cpu_seconds: float = 0.0
    peak_kb: int = 0  #: of the process that had most, with the pages that it shares


def watch(child: int, init: int | None, leash: int, plan: Plan) -> End:
    """Wait until the child has ended, or end it, and then whatever it left behind.

    Args:
        child: the run's process, a child of this one.
        init: process 1 of its namespaces, another child of this one, where there are any.
        leash: a pipe's reading end; when the other end closes, the run is to end.
        plan: what the run may use; memory on top of the pages that it shares with this process.
    """
    watched = _Tree(child, init)
    try:
        watched.end.stopped = _look(watched, leash, plan)
    finally:  # a fault of ours must not leave the run without a watch
        watched.bury()
    return watched.end


@dataclass
class _Tree:
    """The processes of a run."""

    child: int
    init: int | None
    end: End = field(default_factory=End)

    def pids(self) -> list[int]:
        """All there are now, but init, which only waits."""
        return [pid for pid in _descendants(os.getpid())[1:] if pid != self.init]

    def bury(self) -> None:
        """Kill all that is left, and add up what was used."""
        for pid in self.pids():  # the kernel, which buries orphans, does not tell what they used
            if pid != self.child:
                self._count(*_used(pid))
        while True:  # without an init a subreaper gets every orphan, and each may still fork
            _kill([self.init] if self.init else self.pids())
            try:
                pid, status, used = os.wait4(-1, 0)
            except ChildProcessError:
                return
            if pid == self.init:
                self.init = None
                continue
            self._count(used.ru_utime + used.ru_stime, used.ru_maxrss)
            if pid == self.child:
                self.end.exit = os.waitstatus_to_exitcode(status)

    def _count(self, cpu_seconds: float, peak_kb: int) -> None:
        self.end.cpu_seconds += cpu_seconds
        self.end.peak_kb = max(self.end.peak_kb, peak_kb)


def _look(watched: _Tree, leash: int, plan: Plan) -> Reason | None:
    """Look again and again until the child has ended, or there is a reason to end it."""
    handle = os.pidfd_open(watched.child)
    pause = _PERIOD
    while True:
        ready, _, _ = select.select([handle, leash], [], [], pause)
        if handle in ready:
            return None
        start = time.monotonic()
        stopped = "leash" if leash in ready else _excess(watched.pids(), plan)
        if stopped is not None:
            return stopped
        pause = max(_PERIOD, _REST * (time.monotonic() - start))


def _excess(tree: list[int], plan: Plan) -> Reason | None:
    """What the tree has too much of. A lone child is not measured: its limits hold it."""
    if _too_much_on_disk(plan.workspace):
        return "disk"
    if len(tree) <= 1:
        return None
    if len(tree) > MAX_PROCESSES + 1:
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


def _used(pid: int) -> tuple[float, int]:
    """Processor seconds and peak kilobytes of a process and those that it waited for."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime of proc(5)
        status = Path(f"/proc/{pid}/status").read_text()
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "0 0")
        return ticks / os.sysconf("SC_CLK_TCK"), int(peak.split()[1])
    return 0.0, 0


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
