"""Finds the work in what was handed in: one level down, in an archive, under a near name.

Whatever is tidied is told in a notice; whatever cannot be is a sentence to the student.
"""

from __future__ import annotations

import difflib
import io
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from grader.archives import NAMES, STUDENT, UNREADABLE, open_archive
from grader.records import Assignment
from grader.tree import Item, Refused, Tree

MAX_NESTED = 3  #: archives in archives
_MAX_OPENED = 20  #: archives that are opened of one submission

#: Files that would steer Python or pytest instead of being the student's work.
_STEERING = {
    "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml",
    "sitecustomize.py", "usercustomize.py",
}  # fmt: skip
#: `def f(`, `class C`, `a, b = ...` or `a: int = ...` at the start of a line.
_DEFINES = re.compile(
    r"(?:async )?(?:def|class) (?P<name>\w{1,100})"
    r"|(?P<names>[A-Za-z_][\w, ]{0,200}?)(?: ?:[^=\n]{0,100})? ?=(?!=)"
)


def last(name: str) -> str:
    """A path's last step."""
    return name.rsplit("/", 1)[-1]


def near(file: str) -> re.Pattern[str]:
    """Names that a browser, a student or an LMS makes of the file asked for."""
    stem = re.escape(Path(file).stem)
    return re.compile(
        rf"(copy of )?{stem}([ _.-]*(\(\d+\)|copy|final|v?\d++|solution))*\.(py|ipynb)",
        re.IGNORECASE,
    )


def candidates(file: str, names: Sequence[str]) -> list[str]:
    """Which names may be the file asked for: those that are it, else those that come near."""
    notebook = Path(file).with_suffix(".ipynb").name
    exact = [name for name in names if last(name) in (file, notebook)]
    pattern = near(file)
    return exact or [name for name in names if pattern.fullmatch(last(name))]


def unpack(assignment: Assignment, files: Tree, notices: list[str]) -> Tree:
    """Open the archives, where the file asked for is not beside them, and those in them.

    Raises:
        Refused: one of them is broken, too large, or nested too deep.
    """
    opened = 0
    for depth in range(MAX_NESTED + 1):
        packed = [name for name in files if NAMES.search(last(name))]
        if not packed or candidates(assignment.file, list(files)):
            return files
        if depth == MAX_NESTED or (opened := opened + len(packed)) > _MAX_OPENED:
            raise Refused(f"{packed[0]}: too many archives in archives; hand in one zip")
        for name in packed:
            inside = _inside(files.pop(name), name, notices)
            stem = NAMES.sub("", name)
            files |= {f"{stem}/{path}": item for path, item in inside.items()}
    return files


def _inside(item: Item, name: str, notices: list[str]) -> Tree:
    data = item.read(STUDENT.unpacked + 1)
    if len(data) > STUDENT.unpacked:
        raise Refused(f"{name} is larger than {STUDENT.unpacked // 1024**2} MB")
    notices.append(f"opened {name}")
    return open_archive(io.BytesIO(data), name, STUDENT, notices)


def unwrap(assignment: Assignment, files: Tree, notices: list[str]) -> Tree:
    """Take everything out of the one folder that wraps it, where the work lies in that folder."""
    likely = candidates(assignment.file, list(files))
    tops = {name.rpartition("/")[0] for name in likely}
    for top in sorted(tops - {""}, key=len):
        if all(name.startswith(top + "/") for name in files):
            notices.append(f"took the files out of the folder {top}")
            return {name[len(top) + 1 :]: item for name, item in files.items()}
    return files


def set_aside(assignment: Assignment, files: Tree, notices: list[str]) -> Tree:
    """Leave out copies of the course's files and files that steer Python or pytest."""
    course = {path.name for path in assignment.course.glob("*.py")}
    given = {f"{script}.pt" for script in assignment.support}
    own: Tree = {}
    for name, item in files.items():
        if (last(name) in course and last(name) != assignment.file) or given & set(name.split("/")):
            notices.append(f"set aside {name}: the course's own is used")
        elif last(name) in _STEERING:
            notices.append(f"set aside {name}: it is not part of the task")
        else:
            own[name] = item
    return own


def entry(
    assignment: Assignment, files: Tree, notices: list[str], *, lone: bool = False
) -> str | None:
    """The file asked for: by its name, or the one plausible match, with a notice.

    Of a script and a notebook the one is taken that is no longer as it was handed out, else the
    script.
    """
    own, notebook = assignment.file, Path(assignment.file).with_suffix(".ipynb").name
    if own in files and notebook in files:
        found = notebook if _as_handed_out(assignment, files) else own
        notices.append(f"took {found}; {own} and {notebook} were both handed in")
        return found
    if own in files or notebook in files:
        return own if own in files else notebook
    scripts = [name for name in files if name.lower().endswith((".py", ".ipynb"))]
    likely = candidates(own, scripts) or (scripts if lone else [])
    if len(likely) != 1:
        return None
    notices.append(f"took {likely[0]} for {own}")
    return likely[0]


def _as_handed_out(assignment: Assignment, files: Tree) -> bool:
    """Whether the script is the stub, but for how its lines end."""
    stub = _text(assignment.folder / assignment.file).split()
    script = files[assignment.file].read(1 << 20).decode("utf-8", "replace")
    return bool(stub) and script.split() == stub


def missing(assignment: Assignment, names: Sequence[str]) -> str:
    """Why there is no entry, in a sentence to the student."""
    if not names:
        return f"expected {assignment.file}, found no files"
    close = difflib.get_close_matches(assignment.file, names, n=5, cutoff=0.0)
    told = f"expected {assignment.file}, found {', '.join(close)}"
    for lab, file in _other_labs(assignment).items():
        if candidates(file, names):
            return f"{told}; this looks like `{lab}`, handed in for `{assignment.name}`"
    if any(UNREADABLE.search(name) for name in names):
        told += "; only zip and tar archives can be opened"
    return told


def wrong_lab(assignment: Assignment, source: str) -> str | None:
    """A notice where a file defines what another lab asks for, and nothing that this one does."""
    here = names_of(assignment.folder / assignment.file)
    there = _defined(source)
    if not here or here & there:
        return None
    for lab, file in _other_labs(assignment).items():
        asked = names_of(assignment.folder.parent / lab / file)
        if asked and len(asked & there) * 2 >= len(asked):
            return f"this looks like `{lab}`, handed in for `{assignment.name}`"
    return None


def _other_labs(assignment: Assignment) -> dict[str, str]:
    """The files that the course's other labs ask for, by lab."""
    found = {}
    for path in sorted(assignment.folder.parent.glob("*/assignment.toml")):
        if path.parent.name != assignment.name:
            try:
                found[path.parent.name] = str(tomllib.loads(_text(path))["file"])
            except (ValueError, KeyError):
                continue
    return found


def names_of(stub: Path) -> set[str]:
    """The names that a lab asks for: what its stub defines at top level."""
    return _defined(_text(stub))


def _defined(source: str) -> set[str]:
    """Names that are set or defined at the start of a line; no parser sees a student's text."""
    return {name for name, _ in defined(source)}


def defined(source: str) -> list[tuple[str, int]]:
    """Each name that a line sets or defines at its start, with the line's number from 1."""
    found = []
    for number, line in enumerate(source.split("\n"), start=1):
        match = _DEFINES.match(line)
        if match:
            names = re.findall(r"\w+", match["name"] or match["names"])
            found += [(name, number) for name in names]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
