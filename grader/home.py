"""Where things lie: the course that is graded, and what came with the grader itself."""

from __future__ import annotations

import os
from pathlib import Path

from grader.records import AssignmentError

COURSE = "GRADER_COURSE"


def own() -> Path:
    """The folder with the labs and templates that came with the grader."""
    package = Path(__file__).resolve().parent
    inside = package / "_course"  # where a wheel carries the student's side
    return inside if inside.is_dir() else package.parent


def home() -> Path:
    """The folder that holds `assignments/`, and `solutions/` on the instructor's side.

    The one that GRADER_COURSE names; else the nearest above the working directory; else our own.

    Raises:
        AssignmentError: GRADER_COURSE names a folder without `assignments/`.
    """
    if named := os.environ.get(COURSE):
        if not (Path(named) / "assignments").is_dir():
            raise AssignmentError(f"{COURSE}={named}: no folder assignments/ there")
        return Path(named).resolve()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "assignments" / "course").is_dir():
            return folder
    return own()


def labs() -> list[str]:
    """The names of the course's assignments, sorted."""
    return sorted(path.parent.name for path in (home() / "assignments").glob("*/assignment.toml"))


def templates(first: Path | None = None) -> tuple[Path, ...]:
    """The folders of the templates; of two files of one name that in the first of them is used.

    Args:
        first: a folder that goes before the course's own and those that came with the grader.

    Raises:
        AssignmentError: there is no such folder.
    """
    if first is not None and not first.is_dir():
        raise AssignmentError(f"{first}: there is no such folder of templates; mend --templates")
    theirs = home() / "templates", own() / "templates"
    folders = (*((first,) if first else ()), *theirs)
    return tuple(dict.fromkeys(folder for folder in folders if folder.is_dir()))
