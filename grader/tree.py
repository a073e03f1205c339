"""Files that are listed but not read yet: `of_folder(path, notices) -> {name: item}`.

What is handed in is a folder, an archive or a repository. All that comes after works on such lists,
so that nothing is unpacked to disk and nothing is read that is not wanted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from grader.records import GraderError

MAX_SEEN = 20_000  #: files that are listed of one submission, junk and all
MAX_DEPTH = 20  #: folders in folders
MAX_LISTED = 5  #: names that a notice or a problem gives

#: Folders and files that no student means to hand in.
JUNK = {
    "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints",
    "venv", "node_modules",
}  # fmt: skip


class Refused(Exception):
    """What was handed in cannot be taken: one sentence to the student."""


@dataclass(frozen=True)
class Item:
    """A file that can be read."""

    size: int  #: in bytes, as whatever holds it says
    read: Callable[[int], bytes]  #: at most so many bytes of it, from the start


#: Items by relative path, with slashes, in the order in which they were found.
Tree: TypeAlias = dict[str, Item]


def hidden(name: str) -> bool:
    """Whether a path is junk or below a hidden folder."""
    return any(step in JUNK or step.startswith(".") for step in name.split("/"))


def listed(names: list[str]) -> str:
    """Names for a sentence, the first few."""
    shown = ", ".join(names[:MAX_LISTED])
    more = len(names) - MAX_LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def of_file(path: Path) -> Item:
    """A file on disk.

    Raises:
        GraderError: it cannot be read; here or when it is.
    """
    try:
        size = path.stat().st_size
    except OSError as problem:
        raise unreadable(path, problem) from None
    return Item(size, partial(_read, path))


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(limit)
    except OSError as problem:
        raise unreadable(path, problem) from None


def unreadable(path: Path, problem: OSError) -> GraderError:
    """What to tell staff of a file or folder that cannot be read."""
    return GraderError(f"{path}: cannot be read: {problem.strerror}")


def of_folder(folder: Path, notices: list[str]) -> Tree:
    """The regular files below a folder, sorted; links are left out and told, so is junk.

    Raises:
        GraderError: a folder cannot be read.
        Refused: there are too many files.
    """
    found: Tree = {}
    links: list[str] = []
    junk: set[str] = set()
    waiting = [(folder, "")]
    while waiting:
        place, prefix = waiting.pop()
        entries = scan(place)
        junk |= {entry.name for entry in entries if entry.name in JUNK}
        kept = [e for e in entries if not hidden(e.name)]
        links += [prefix + entry.name for entry in kept if entry.is_symlink()]
        for entry in kept:
            if entry.is_file(follow_symlinks=False):
                found[prefix + entry.name] = of_file(Path(entry.path))
        if len(found) > MAX_SEEN:
            raise Refused(f"more than {MAX_SEEN:,} files were handed in")
        folders = [e for e in kept if e.is_dir(follow_symlinks=False)]
        if prefix.count("/") < MAX_DEPTH:
            waiting += [(Path(e.path), f"{prefix}{e.name}/") for e in reversed(folders)]
    tell(notices, sorted(junk), links)
    return found


def scan(place: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder, sorted by name.

    Raises:
        GraderError: it cannot be read.
    """
    try:
        with os.scandir(place) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as problem:
        raise unreadable(place, problem) from None


def tell(notices: list[str], junk: list[str], links: list[str]) -> None:
    """Say what was left out of a list of files."""
    if junk:
        notices.append(f"left out what is no work: {listed(junk)}")
    if links:
        notices.append(f"left out {listed(links)}: links are not followed")
