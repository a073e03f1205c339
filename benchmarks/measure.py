"""Runs a command and says what it took, with all the processes that it starts."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

#: Seconds between two looks at the memory.
_EVERY = 0.2
_KB = 1024


@dataclass(frozen=True)
class Spent:
    """What a command took."""

    start: float  #: when it was started, seconds since the epoch
    wall: float  #: seconds
    cpu: float  #: processor time of it and of all processes that were waited for, seconds
    peak_mb: float  #: most memory of the tree at a time, shared pages counted once
    output: str  #: what it printed, errors among it


def measure(command: list[str], folder: Path, **environment: str) -> Spent:
    """Run a command to its end, whatever its exit status.

    The memory is the sum of the proportional set sizes of the command and its descendants, looked
    at five times a second, so a peak of less than that may be missed. Where the system does not
    tell a process's, its resident set counts, shared pages and all.
    """
    ended = threading.Event()
    peak = [0.0]
    with tempfile.TemporaryFile() as log:
        start = time.time()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        watcher = threading.Thread(target=_watch, args=(child.pid, ended, peak))
        watcher.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.time() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    return Spent(start, wall, usage.ru_utime + usage.ru_stime, peak[0], output)


def _watch(root: int, ended: threading.Event, peak: list[float]) -> None:
    while not ended.wait(_EVERY):
        peak[0] = max(peak[0], sum(map(_memory_mb, tree(root))))


def tree(root: int) -> list[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def _memory_mb(process: int) -> float:
    folder = Path("/proc") / str(process)
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / _KB
    except PermissionError:
        pass
    except (OSError, StopIteration):  # it has ended
        return 0.0
    try:
        pages = int((folder / "statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _KB**2
