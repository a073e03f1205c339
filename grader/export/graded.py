"""A student's results as they are on disk, and what may be told of them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.plain import clean
from grader.records import GraderError

Fields = Mapping[str, Any]

#: A line of a message that says where: "  pieces.py, line 3" or "  cell 7, line 3".
_PLACE = re.compile(r"^ +(?:(?P<file>[^\n]+?\.py)|cell (?P<cell>\d+)), line (?P<line>\d+)", re.M)


@dataclass(frozen=True)
class Graded:
    """One student's grade with what lies beside it."""

    grade: Fields  #: `grade.json`
    entry: str | None  #: the script that was graded, None where there was none
    feedback: str  #: `feedback.md`

    @property
    def student(self) -> str:
        """The student's name."""
        return str(self.grade["student"])


def read_results(out: Path, lab: str | None = None, students: Collection[str] = ()) -> list[Graded]:
    """What a results folder holds, by student.

    Args:
        out: the folder given to `grader grade`, or that of one lab in it.
        lab: which lab; needed where there are several.
        students: these alone.

    Raises:
        GraderError: there is no such lab or student, or a file of the results is not whole.
    """
    folder = _lab(out, lab)
    found = [
        _read(path.parent)
        for path in sorted(folder.glob("*/grade.json"))
        if not students or path.parent.name in students
    ]
    if missing := sorted(set(students) - {graded.student for graded in found}):
        raise GraderError(f"{folder}: no grade of {', '.join(missing)} is there")
    if not found:
        raise GraderError(f"{folder}: no grades are there; grade first")
    return found


def _lab(out: Path, lab: str | None) -> Path:
    if lab is None and (out / "journal.jsonl").is_file():
        return out
    there = sorted(path.parent.name for path in out.glob("*/journal.jsonl"))
    if lab is None and len(there) == 1:
        return out / there[0]
    if lab in there:
        return out / str(lab)
    told = f"results of {', '.join(there)}" if there else "no results"
    raise GraderError(f"{out}: {told} are there; say which by --lab")


def _read(folder: Path) -> Graded:
    try:
        grade = json.loads((folder / "grade.json").read_text("utf-8"))
        about = json.loads((folder / "submission.json").read_text("utf-8"))
        feedback = (folder / "feedback.md").read_text("utf-8")
    except (OSError, ValueError) as problem:
        raise GraderError(f"{folder}: cannot be read ({problem}); grade it again") from None
    if grade.get("version") != 1:
        raise GraderError(f"{folder / 'grade.json'}: of another version; grade it again")
    return Graded(grade, about["entry"], feedback)


def rounded(points: float) -> float:
    """Points as other tools take them: two decimals, and no -0."""
    return round(points + 1e-9, 2) + 0.0


def name(check: Fields) -> str:
    """A check by its name and its case."""
    return f"{check['name']} ({check['case']})"


def told(check: Fields) -> str:
    """What a student may read of a check: of a hidden one what its level of disclosure tells."""
    lines = [str(check["asked"])]
    if check["status"] in ("error", "not_run"):
        lines.append("This could not be checked; a person will look at it.")
    elif check["status"] != "passed":
        came = check["guarded"] if check["hidden"] else check["message"]
        shown = (("Came", came), ("What was done", check["diagnosis"]), ("Hint", check["hint"]))
        lines += [f"{word}: {text}" for word, text in shown if text]
    return clean("\n".join(lines))


def shown_runs(graded: Graded) -> list[str]:
    """What a student may read of the runs that did not end well."""
    hidden = {check["case"] for check in graded.grade["checks"] if check["hidden"]}
    lines = []
    for run in graded.grade["runs"]:
        if run["status"] != "ok":
            reason = None if run["case"] in hidden else run["message"]
            lines.append(
                clean(f"{run['case']} run: {run['status']}{f': {reason}' if reason else ''}")
            )
    return lines


def head(graded: Graded) -> str:
    """The sum, the notices and the runs that did not end well, a line each."""
    grade = graded.grade
    total = f"{rounded(grade['points']):g} of {rounded(grade['possible']):g} points"
    notices = [clean(f"Note: {notice}") for notice in grade["notices"]]
    review = ["A person will look at this."] if grade["review"] else []
    return "\n".join([total, *review, *notices, *shown_runs(graded)])


def place(graded: Graded, text: str | None) -> tuple[str | None, int | None]:
    """Where in the student's files a message points: the innermost of its lines."""
    notebook = graded.entry and f"{graded.entry.removesuffix('.py')}.ipynb"
    for found in reversed(list(_PLACE.finditer(text or ""))):
        if found["cell"]:
            return notebook, None
        return found["file"], int(found["line"])
    return graded.entry, None
