"""Hostile submissions: each ends in its status, earns nothing, and leaves its neighbour alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conftest import ROOT
from grader import batch
from grader.assignment import load
from grader.records import Grade, Submission
from grader.runner import Runner

FILES = sorted((ROOT / "tests" / "hostile").glob("*.py"))


@pytest.fixture(scope="session")
def graded(runner: Runner) -> dict[str, Grade]:
    """All hostile submissions and, before, between and after them, a good one; in one batch."""
    assignment = load("pieces", case="public", seconds=4)
    good = (ROOT / "solutions" / "pieces" / "pieces.py").read_bytes()
    submissions = []
    for path in FILES:
        files = {"pieces.py": path.read_bytes()}
        submissions.append(Submission(path.stem, files, "pieces.py"))
        submissions.append(Submission(f"after_{path.stem}", {"pieces.py": good}, "pieces.py"))
    return {grade.student: grade for grade, _ in batch.grade_all(assignment, submissions, runner)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ends_in_its_status_and_earns_nothing(path: Path, graded: dict[str, Grade]) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    (status,) = re.findall(r"Status: (\w+)$", docstring)
    grade = graded[path.stem]
    assert (grade.runs[0].status, grade.points) == (status, 0), grade.runs[0]
    assert grade.possible == graded[f"after_{path.stem}"].possible
    assert not grade.review


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_neighbour_is_unaffected(path: Path, graded: dict[str, Grade]) -> None:
    grade = graded[f"after_{path.stem}"]
    assert grade.points == pytest.approx(grade.possible)
    assert grade.runs[0].status == "ok"
