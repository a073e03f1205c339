"""The folders in which submissions run: one place for each process, an empty folder for each run.

A grader that was killed leaves its place behind. The lock in it is then free, and the next grader
removes it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import filelock

_PREFIX = "grader-runs-"
_LOCK = "lock"


class Place:
    """A folder for the workspaces of this process, gone when closed."""

    def __init__(self) -> None:
        _sweep(Path(tempfile.gettempdir()))
        while True:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            self._lock = filelock.FileLock(self.folder / _LOCK)
            self._lock.acquire()
            if (self.folder / _LOCK).exists():
                break  # else another took it for left behind before it was locked
        self.folder.chmod(0o711)  # runs have no rights, and must pass through to their own

    @contextlib.contextmanager
    def workspace(self) -> Iterator[Path]:
        """An empty folder for one run, gone afterwards with whatever is in it."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                _remove(folder)

    def close(self) -> None:
        """Remove it all."""
        with contextlib.suppress(OSError):
            _remove(self.folder)
        self._lock.release()


def _sweep(parent: Path) -> None:
    """Remove the places of graders that are no more; those of others are not ours to touch."""
    for folder in parent.glob(f"{_PREFIX}*"):
        lock = filelock.FileLock(folder / _LOCK, timeout=0)
        with contextlib.suppress(OSError, filelock.Timeout):
            if folder.is_symlink() or not (folder / _LOCK).is_file():
                continue
            with lock:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder that a submission has filled, however deep and whatever its rights.

    What lies below a folder in it is moved up to it: deep down no path is short enough, and
    recursion (as in `shutil.rmtree`) ends in an error.
    """
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry.path).unlink()
                continue
            Path(entry.path).chmod(0o700)
            for below in list(os.scandir(entry.path)):
                if below.is_dir(follow_symlinks=False):
                    Path(below.path).chmod(0o700)  # to be moved, a folder must be writable
                    Path(below.path).rename(folder / uuid4().hex)
                else:
                    Path(below.path).unlink()
            Path(entry.path).rmdir()
    folder.rmdir()
