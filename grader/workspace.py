"""The folder of one run: `with workspace() as folder`, gone afterwards with whatever is in it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """An empty folder for one run, removed when nothing runs in it any more."""
    folder = Path(tempfile.mkdtemp(prefix="grader-")).resolve()
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
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
