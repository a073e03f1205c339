"""Collects submissions: a folder or a lone file becomes a `Submission`, its files read as bytes.

Links are not followed, and nothing of a submission is opened a second time.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.records import Assignment, GraderError, Submission

#: What is taken of one submission.
MAX_FILES = 500
MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 20  #: folders in folders

_JUNK = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints"}
#: Names of files in the folder of results, where each student has a folder.
_TAKEN = {"index.html", "grades.csv", "journal.jsonl"}
#: Files that would steer Python or pytest instead of being the student's work.
_STEERING = {
    "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml",
    "sitecustomize.py", "usercustomize.py",
}  # fmt: skip


def find(assignment: Assignment, paths: Sequence[Path]) -> dict[str, Path]:
    """The submissions by student, sorted: those named, or those in one folder of a class.

    Raises:
        GraderError: nothing is there, or two are of one student.
    """
    if len(paths) == 1 and (several := _class(paths[0])):
        paths = several
    found: dict[str, Path] = {}
    for path in paths:
        _check_there(path)
        student = _student(assignment, path.resolve(), lone=path.is_file())
        if student in _TAKEN:
            raise GraderError(f"{path}: no student can be named {student!r}; rename the folder")
        if student in found:
            raise GraderError(
                f"{path} and {found[student]} are both of {student!r}; rename one's folder"
            )
        found[student] = path
    return dict(sorted(found.items()))


def _class(folder: Path) -> list[Path]:
    """The submissions in a folder that has several folders and no script of its own."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    folders = [path for path in inside if path.is_dir() and path.name not in _JUNK]
    scripts = [path for path in inside if path.is_file() and path.suffix == ".py"]
    return folders if len(folders) > 1 and not scripts else []


def _check_there(path: Path) -> None:
    try:
        there = not path.is_symlink() and (path.is_dir() or path.is_file())
    except OSError as reason:
        raise GraderError(f"{path}: cannot be read: {reason.strerror}") from None
    if not there:
        raise GraderError(f"{path}: no such file or folder; give a submission's folder or file")


def collect(assignment: Assignment, path: Path) -> Submission:
    """Read one submission.

    Args:
        assignment: whose file is looked for.
        path: a folder named after the student, or the file itself, in such a folder or so named.

    Raises:
        GraderError: there is nothing at `path`, or it is neither a file nor a folder.
    """
    _check_there(path)
    lone = path.is_file()
    student = _student(assignment, path.resolve(), lone=lone)
    found = {path.name: path} if lone else dict(_walk(path))
    notices: list[str] = []
    files = _read(found, notices)
    if files is None:
        return Submission(student, {}, None, notices[-1])
    own = _set_aside(assignment, files, notices)
    entry = _entry(assignment, own, notices, lone=lone)
    problem = None if entry else _nothing(assignment, own)
    return Submission(student, own, entry, problem, tuple(notices))


def _student(assignment: Assignment, path: Path, *, lone: bool) -> str:
    """The folder's name; a lone file of another name than the task's is named after the student."""
    if not lone:
        return path.name
    return path.parent.name if path.name == assignment.file else path.stem


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Regular files below a folder by relative path, sorted; links, hidden and junk left out."""
    waiting = [(folder, "")]
    while waiting:
        place, prefix = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as problem:
            raise GraderError(f"{place}: cannot be read: {problem.strerror}") from None
        kept = [e for e in entries if e.name not in _JUNK and not e.name.startswith(".")]
        for entry in kept:
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, Path(entry.path)
        folders = [e for e in kept if e.is_dir(follow_symlinks=False)]
        if prefix.count("/") < MAX_DEPTH:
            waiting += [(Path(e.path), f"{prefix}{e.name}/") for e in reversed(folders)]


def _read(found: dict[str, Path], notices: list[str]) -> dict[str, bytes] | None:
    """The files' contents; None, and a notice, where there is too much."""
    if len(found) > MAX_FILES:
        notices.append(f"{len(found)} files were handed in, more than {MAX_FILES}")
        return None
    files, room = {}, MAX_BYTES
    for name, path in found.items():
        try:
            with path.open("rb") as stream:
                data = stream.read(room + 1)
        except OSError as problem:
            raise GraderError(f"{path}: cannot be read: {problem.strerror}") from None
        room -= len(data)
        if room < 0:
            notices.append(f"the files handed in are larger than {MAX_BYTES // 1024**2} MB")
            return None
        files[name] = data
    return files


def _set_aside(
    assignment: Assignment, files: dict[str, bytes], notices: list[str]
) -> dict[str, bytes]:
    """Leave out copies of the course's files and files that steer Python or pytest."""
    course = {path.name for path in assignment.course.glob("*.py")}
    given = {f"{script}.pt" for script in assignment.support}
    own = {}
    for name, data in files.items():
        last = name.rsplit("/", 1)[-1]
        if (last in course and last != assignment.file) or given & set(name.split("/")):
            notices.append(f"set aside {name}: the course's own is used")
        elif last in _STEERING:
            notices.append(f"set aside {name}: it is not part of the task")
        else:
            own[name] = data
    return own


def _entry(
    assignment: Assignment, files: dict[str, bytes], notices: list[str], *, lone: bool
) -> str | None:
    """The file asked for: by its name, or the one plausible match, with a notice."""
    if assignment.file in files:
        return assignment.file
    scripts = [name for name in files if name.lower().endswith(".py")]
    exact = [name for name in scripts if name.rsplit("/", 1)[-1] == assignment.file]
    stem = re.escape(Path(assignment.file).stem)
    near = re.compile(
        rf"(copy of )?{stem}([ _.-]*(\(\d+\)|copy|final|v?\d++|solution))*\.py", re.IGNORECASE
    )
    likely = [name for name in scripts if near.fullmatch(name.rsplit("/", 1)[-1])]
    candidates = exact or likely or (scripts if lone else [])
    if len(candidates) != 1:
        return None
    notices.append(f"took {candidates[0]} for {assignment.file}")
    return candidates[0]


def _nothing(assignment: Assignment, files: dict[str, bytes]) -> str:
    """Why there is no entry, in a sentence to the student."""
    names = sorted(files)
    if not names:
        return f"expected {assignment.file}, found no files"
    close = difflib.get_close_matches(assignment.file, names, n=5, cutoff=0.0)
    return f"expected {assignment.file}, found {', '.join(close)}"
