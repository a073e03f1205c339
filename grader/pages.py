"""Writes a student's pages, and all pages of a folder again in other words or looks.

write(folder, assignment, grade, submission)      # as soon as a student is graded
rewrite(results, assignment)                      # from what is stored; nothing is run or graded
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import files, render, store
from grader.feedback import feedback
from grader.records import Assignment, Grade, GraderError, Run, Submission

if TYPE_CHECKING:
    from grader.results import Results

NAMES = ("feedback.html", "feedback.md")


def write(folder: Path, assignment: Assignment, grade: Grade, submission: Submission) -> None:
    """Write a student's pages into their folder."""
    shown = feedback(assignment, grade, submission)
    for name in NAMES:
        files.write(folder / name, render.page(name, shown, assignment.templates))


def rewrite(results: Results, assignment: Assignment) -> int:
    """Write every student's pages again.

    Args:
        results: the folder, held.
        assignment: with the language, the templates and the disclosure to use.

    Returns:
        How many students have new pages.

    Raises:
        GraderError: a grade cannot be read; the message says what to do.
    """
    students = results.students()
    for student in students:
        folder = results.folder / student
        write(folder, assignment, stored(folder), results.submission(student))
    return len(students)


def stored(folder: Path) -> Grade:
    """A student's grade, with what their runs printed."""
    try:
        grade = store.grade_from_json(json.loads((folder / "grade.json").read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise GraderError(
            f"{folder / 'grade.json'}: no grade of this version ({problem!r}); grade again"
        ) from None
    return replace(grade, runs=tuple(_printed(folder, run) for run in grade.runs))


def _printed(folder: Path, run: Run) -> Run:
    try:
        body = json.loads((folder / "runs" / f"{run.case}.json").read_text("utf-8"))
        return replace(run, output=str(body["output"]), errors=str(body["errors"]))
    except (OSError, ValueError, KeyError, TypeError):
        return run  # what was printed is no part of the grade
