"""The labs themselves: the reference earns all, the stub nothing, each variant what it says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conftest import ROOT
from grader.records import Grade


def test_reference_earns_everything(graded: dict[str, Grade]) -> None:
    grade = graded["reference"]
    assert grade.points == pytest.approx(grade.possible)
    assert [run.status for run in grade.runs] == ["ok"] * len(grade.runs)
    assert not grade.review


def test_stub_earns_nothing(graded: dict[str, Grade]) -> None:
    grade = graded["stub"]
    assert grade.points == 0
    assert grade.possible == graded["reference"].possible
    assert all("not yet written" in str(check.message) for check in grade.checks if _asks(check))


def _asks(check: object) -> bool:
    """Whether a check asks for a name; what is printed says nothing of names."""
    return not getattr(check, "name").startswith(("line", "print"))  # noqa: B009


def test_right_files_earn_everything(graded: dict[str, Grade]) -> None:
    right = {name: grade for name, grade in graded.items() if name.startswith("right/")}
    assert len(right) >= 6
    for name, grade in right.items():
        short = [(c.name, c.case, c.message) for c in grade.checks if c.status != "passed"]
        assert not short, name


def test_wrong_files_lose_the_parts_they_name(graded: dict[str, Grade]) -> None:
    wrong = {name: grade for name, grade in graded.items() if name.startswith("wrong/")}
    assert len(wrong) >= 10
    for name, grade in wrong.items():
        lost = {check.part for check in grade.checks if check.earned < check.points}
        path = ROOT / "solutions" / grade.assignment / f"{name}.py"
        assert lost == _named_parts(path), (name, [c for c in grade.checks if c.message])
        assert not grade.review, name


def _named_parts(path: Path) -> set[str]:
    """The parts after `Loses:` in a wrong file's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    (line,) = [line for line in docstring.splitlines() if line.startswith("Loses:")]
    return {part.strip() for part in line.removeprefix("Loses:").split(",")}
