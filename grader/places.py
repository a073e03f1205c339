"""The top of a download, in a folder or an archive: `of_folder(path)`, `of_archive(path)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader import tree
from grader.collect import of_class
from grader.tree import JUNK, Item, Tree


@dataclass(frozen=True)
class Place:
    """The top of a download."""

    where: Path  #: the folder, or the archive
    files: Mapping[str, Item]  #: what lies there
    folders: Mapping[str, Callable[[], Place]]  #: by name
    tree: Callable[[list[str]], Tree]  #: lists all below
    path: Path | None = None  #: the folder on disk, None in an archive


def of_folder(path: Path) -> Place:
    """What lies in a folder on disk."""
    entries = [e for e in tree.scan(path) if e.name not in JUNK and not e.name.startswith(".")]
    files = {e.name: e for e in entries if e.is_file(follow_symlinks=False)}
    folders = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    return Place(
        path,
        {name: tree.of_file(Path(entry.path)) for name, entry in files.items()},
        {name: partial(of_folder, path / name) for name in folders},
        partial(tree.of_folder, path),
        path,
    )


def of_archive(path: Path) -> Place:
    """What lies in an archive of a class."""
    return _part(path, of_class(path))


def _part(where: Path, content: Tree) -> Place:
    """What lies in an archive, or in a folder of it."""
    files = {name: item for name, item in content.items() if "/" not in name}
    folders: dict[str, Tree] = {}
    for name, item in content.items():
        top, slash, rest = name.partition("/")
        if slash:
            folders.setdefault(top, {})[rest] = item
    inside = {name: partial(_part, where, below) for name, below in folders.items()}
    return Place(where, files, inside, lambda _: dict(content))
