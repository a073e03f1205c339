"""Results made by hand, with all that a student controls being hostile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from grader import score
from grader.assignment import load
from grader.records import Assignment, Check, Grade, Run, Submission
from grader.results import Results

HIDDEN = "the expected value is 31337"
EVIL = "\x1b[31m</script><b>::error::no\n::stop-commands::x\n##[error]\u202e\x00]]>&"


def check(name: str, earned: float, points: float, **fields: object) -> Check:
    """A check of the part `words` in the public case."""
    status = "passed" if earned == points else "partial" if earned else "failed"
    made = Check(
        name=name, part="words", points=points, earned=earned, status=status, case="public",
        hidden=False, asked=f"Are the {name} right?",
        message=None if status == "passed" else f"{EVIL}\n  pieces.py, line 3: words = 1",
        hint=None if status == "passed" else "Look at `words`.", probes=("words",),
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


def checks(*earned: float) -> tuple[Check, ...]:
    """Checks worth 2.5 points each, by turns public and hidden, that earn so much."""
    return tuple(
        check(f"check_{number}", points, 2.5, hidden=number % 2 == 1,
              case="hidden" if number % 2 else "public",
              **({"message": f"{HIDDEN}\n  pieces.py, line 4: x"} if number % 2 else {}))
        for number, points in enumerate(earned)
    )  # fmt: skip


def graded(
    lab: Assignment,
    student: str,
    found: tuple[Check, ...],
    *,
    ids: Mapping[str, str] | None = None,
    handed_in: datetime | None = None,
) -> tuple[Submission, Grade]:
    """A student's submission and its grade."""
    submission = Submission(
        student, {"pieces.py": b"words = 1\n"}, "pieces.py", None, (f"took {EVIL}",), ids or {},
        handed_in,
    )  # fmt: skip
    runs = (
        Run("public", "error", f"ZeroDivisionError: {EVIL}\n  pieces.py, line 7: 1/0", seconds=1.5),
        Run("hidden", "error", f"ValueError: {HIDDEN}\n  pieces.py, line 8: x", seconds=2.25),
    )
    return submission, score.total(lab, submission, runs, found)


def results(out: Path, *made: tuple[Submission, Grade], lab: Assignment | None = None) -> Path:
    """Write them as the grader writes its own; the lab's folder."""
    lab = lab or load("pieces")
    with Results(out, lab) as folder:
        for submission, grade in made:
            folder.save(submission, grade, {}, "digest", grade.runs)
    return out / lab.name
