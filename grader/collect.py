"""Collects submissions: `collect(assignment, source) -> Submission`, its files read as bytes.

A source is a folder, a file or an archive, or what `layouts` finds in a class's download. Links are
not followed, nothing is unpacked to disk, and nothing of a submission is opened a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from grader import notebooks, tidy, tree
from grader.archives import CLASS, NAMES, STUDENT, Caps, mapped, open_archive
from grader.records import Assignment, GraderError, Submission
from grader.tree import Refused, Tree

#: What is taken of one submission.
MAX_FILES = 500
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Source:
    """Where one attempt of one student lies."""

    student: str  #: whose it is
    where: str  #: how to call it in messages
    files: Callable[[list[str]], Tree]  #: lists it and adds notices; may raise `Refused`
    lone: bool = False  #: whether it is one file, which may have any name
    ids: Mapping[str, str] = field(default_factory=dict)  #: as in `Submission`
    handed_in: datetime | None = None  #: with its zone
    attempt: int = 0  #: where no times are known, which of several it is


def collect(assignment: Assignment, source: Path | Source) -> Submission:
    """Read one submission.

    Args:
        assignment: whose file is looked for.
        source: a folder named after the student; the file itself or an archive, in such a folder or
            so named; or what `layouts.find` gives.

    Raises:
        GraderError: there is nothing, or it cannot be read.
    """
    if isinstance(source, Path):
        source = of_path(assignment, source)
    notices: list[str] = []
    files: Mapping[str, bytes] = {}
    entry = None
    try:
        found = tidy.unpack(assignment, source.files(notices), notices)
        found = tidy.unwrap(assignment, found, notices)
        found = tidy.set_aside(assignment, found, notices)
        entry = tidy.entry(assignment, found, notices, lone=source.lone)
        problem = None if entry else tidy.missing(assignment, sorted(found))
        files = _read(found)
        if entry is not None:
            files, entry = _scripts(assignment, files, entry, notices)
    except Refused as refusal:
        files, entry, problem = {}, None, str(refusal)
    return Submission(
        source.student, files, entry, problem, tuple(notices), dict(source.ids), source.handed_in
    )


def of_path(assignment: Assignment, path: Path) -> Source:
    """The source that a path names, with its student's name.

    A lone file of another name than the task's is named after the student.

    Raises:
        GraderError: there is nothing at the path, or it is neither a file nor a folder.
    """
    check_there(path)
    full = path.resolve()
    if not path.is_file():
        return Source(full.name, str(path), lambda notices: tree.of_folder(path, notices))
    if NAMES.search(path.name):
        student = NAMES.sub("", path.name)
        return Source(student, str(path), lambda notices: of_archive(path, notices))
    stem = Path(assignment.file).stem
    student = full.parent.name if full.stem == stem else full.stem
    return Source(student, str(path), lambda _: {path.name: tree.of_file(path)}, lone=True)


def of_archive(path: Path, notices: list[str], caps: Caps = STUDENT) -> Tree:
    """The files in an archive on disk, which may be read as long as they are known.

    Raises:
        GraderError: it cannot be read.
        Refused: it is broken or too large.
    """
    try:
        with path.open("rb") as stream:
            content = mapped(stream)
    except OSError as problem:
        raise tree.unreadable(path, problem) from None
    except ValueError:
        raise Refused(f"{path.name} is empty") from None
    return open_archive(content, path.name, caps, notices)


def of_class(path: Path) -> Tree:
    """The files in the archive of a whole class.

    Raises:
        GraderError: it cannot be opened.
    """
    try:
        return of_archive(path, [], CLASS)
    except Refused as refusal:
        raise GraderError(f"{path}: {refusal}") from None


def check_there(path: Path) -> None:
    """See to it that a path is a folder or a file, and no link.

    Raises:
        GraderError: it is not.
    """
    try:
        there = not path.is_symlink() and (path.is_dir() or path.is_file())
    except OSError as reason:
        raise tree.unreadable(path, reason) from None
    if not there:
        raise GraderError(f"{path}: no such file or folder; give a submission's folder or file")


def _read(found: Tree) -> dict[str, bytes]:
    """The files' contents.

    Raises:
        Refused: there is too much.
    """
    if len(found) > MAX_FILES:
        raise Refused(f"{len(found)} files were handed in, more than {MAX_FILES}")
    too_much = Refused(f"the files handed in are larger than {MAX_BYTES // 1024**2} MB")
    if sum(item.size for item in found.values()) > MAX_BYTES:
        raise too_much
    files, room = {}, MAX_BYTES
    for name, item in found.items():
        data = item.read(room + 1)
        room -= len(data)
        if room < 0:
            raise too_much
        files[name] = data
    return files


def _scripts(
    assignment: Assignment, files: Mapping[str, bytes], entry: str, notices: list[str]
) -> tuple[dict[str, bytes], str]:
    """The files with the notebook asked for as a script, and the others as they are."""
    script = f"{entry[: -len('.ipynb')]}.py" if entry.lower().endswith(".ipynb") else entry
    own = dict(files)
    if script != entry:
        text = notebooks.as_script(own.pop(entry), entry, notices)
        notices.append(f"read {entry} as the script {script}")
        notices += notebooks.set_twice(text, assignment.folder / assignment.file)
        own[script] = text.encode()
    text = own[script][:1_000_000].decode("utf-8", "replace")
    if told := tidy.wrong_lab(assignment, text):
        notices.append(told)
    return own, script
