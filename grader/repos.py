"""Reads a commit of a git repository, clone or bare: `files(folder, commit, notices) -> tree`.

The repository is hostile. It is read by git's plumbing alone, which runs no hook, filter, pager or
signature program; nothing is checked out, nothing is fetched, and what it may use is limited.
"""

from __future__ import annotations

import os
import subprocess
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from grader import tree
from grader.records import GraderError
from grader.tree import Item, Refused, Tree

_BROKEN = "the repository is broken: git cannot read it"
_SECONDS = 20  #: for one command
_NOT_FOUND = 127  #: a shell's status where there is no such program
_MAX_LISTING = 8 * 1024**2  #: bytes of a list of files
#: Memory in KB and processor seconds that a command may use, whatever it meets in the repository.
_LIMITS = 'ulimit -v 2000000 -t 20; exec git "$@"'
_OPTIONS = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs", "-c", "safe.directory=*",
    "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.hooksPath=/dev/null",
    "-c", "core.alternateRefsCommand=", "-c", "gc.auto=0", "-c", "log.showSignature=false",
)  # fmt: skip
_ENVIRONMENT = {
    "HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}


def git_folder(path: Path) -> Path | None:
    """Where a clone or a bare repository keeps its objects, None where a folder is neither."""
    for folder in (path / ".git", path):
        inside = (folder / "objects", folder / "refs")
        real = not any(each.is_symlink() for each in (folder, *inside))
        if real and (folder / "HEAD").is_file() and all(each.is_dir() for each in inside):
            return folder
    return None


def newest(folder: Path, ref: str | None, before: datetime | None = None) -> tuple[str, datetime]:
    """A branch's or tag's newest commit, or its newest up to a time by the commits' own dates.

    Args:
        folder: as `git_folder` gives it.
        ref: the branch or tag; the repository's own main branch by default.
        before: a time with its zone; where no commit is as old, the newest one is taken.

    Raises:
        Refused: there is no such branch or tag, or no commit at all.
    """
    commit = _resolved(folder, ref)
    for limit in ([f"--before={before.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"] if before else [], []):
        found = _git(folder, "rev-list", "--timestamp", "--max-count=1", *limit, commit, "--")
        if found:
            seconds, name = found.decode().split()
            return name, datetime.fromtimestamp(int(seconds), UTC)
    raise Refused("the repository has no commits")


def _resolved(folder: Path, ref: str | None) -> str:
    names = ["HEAD"] if ref is None else [f"refs/{at}/{ref}" for at in _PLACES]
    if ref is None:  # a main branch of another name than the server's default
        heads = _git(folder, "for-each-ref", "--format=%(refname)", "refs/heads").decode().split()
        names += heads if len(heads) == 1 else []
    for name in names:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options",
                     f"{name}^{{commit}}", fails=True)  # fmt: skip
        if found:
            return found.decode().strip()
    raise Refused(f"the repository has no branch or tag {ref!r}" if ref else "it has no commits")


_PLACES = ("heads", "tags", "remotes/origin")


def holds(folder: Path, commit: str) -> bool:
    """Whether a repository holds a commit."""
    plain = commit if all(sign in "0123456789abcdef" for sign in commit) else ""
    kind = _git(folder, "cat-file", "-t", plain, fails=True) if plain else b""
    return kind.strip() == b"commit"


def files(folder: Path, commit: str, notices: list[str]) -> Tree:
    """List the files of a commit; links and submodules are left out and told.

    Raises:
        Refused: there are too many.
    """
    listing = _git(folder, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    found: Tree = {}
    links: list[str] = []
    junk: set[str] = set()
    for row in listing.split(b"\0")[:-1]:
        facts, _, raw = row.partition(b"\t")
        mode, _, blob, size = facts.split()
        name = os.fsdecode(raw)
        if tree.hidden(name):
            junk |= tree.JUNK & set(name.split("/"))
        elif mode in (b"120000", b"160000"):
            links.append(name)
        elif not size.isdigit():
            raise Refused(_BROKEN)
        elif ".." not in name.split("/") and name.count("/") <= tree.MAX_DEPTH:
            found[name] = Item(int(size), partial(_blob, folder, blob.decode()))
    if len(found) > tree.MAX_SEEN:
        raise Refused(f"more than {tree.MAX_SEEN:,} files are in the repository")
    tree.tell(notices, sorted(junk), links)
    return found


def _blob(folder: Path, blob: str, limit: int) -> bytes:
    return _git(folder, "cat-file", "blob", blob, most=limit)


def _git(folder: Path, *words: str, fails: bool = False, most: int = _MAX_LISTING) -> bytes:
    """What a command of git's prints, the first `most` bytes.

    Raises:
        GraderError: git is not installed.
        Refused: the repository is broken or needs too much.
    """
    command = ["sh", "-c", _LIMITS, "git", *_OPTIONS, f"--git-dir={folder.resolve()}", *words]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT},
        cwd="/",
    )
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    try:
        output = _read(process, most + 1)
    finally:
        timer.cancel()
    if process.returncode == _NOT_FOUND:
        raise GraderError("git repositories were handed in, and git is not installed")
    if len(output) > most and most == _MAX_LISTING:
        raise Refused("the repository lists too many files")
    if process.returncode != 0 and not fails and len(output) <= most:
        raise Refused(_BROKEN)
    return output[:most]


def _read(process: subprocess.Popen[bytes], most: int) -> bytes:
    """The first bytes of what a process prints, which is then ended."""
    if process.stdout is None:
        raise RuntimeError("its output is no pipe")
    with process.stdout as stream:
        output = stream.read(most)
    if len(output) == most:
        process.kill()
    process.wait()
    return output
