"""Several attempts of one student, graded: the best one counts where the lab says so."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import ROOT
from grader import pipeline
from grader.assignment import load
from grader.collect import Source
from grader.records import Assignment, LateRule
from grader.results import Results
from grader.runner import Runner
from grader.tree import of_folder

DEMO = ROOT / "demo" / "pieces"
DUE = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)


def _attempt(sample: str, hours: float) -> Source:
    folder = DEMO / sample
    time = DUE + timedelta(hours=hours)
    return Source("eve", sample, lambda notices: of_folder(folder, notices), handed_in=time)


def _grade(
    lab: Assignment, runner: Runner, out: Path, *attempts: Source
) -> tuple[pipeline.Outcome, dict[str, object]]:
    with Results(out, lab) as results:
        (outcome,) = pipeline.grade_class(lab, {"eve": attempts}, results, runner)
    return outcome, json.loads((out / "pieces" / "eve" / "grade.json").read_text("utf-8"))


@pytest.mark.parametrize(("penalty", "wanted"), [(10, "ada"), (100, "cleo")])
def test_best_attempt_counts(runner: Runner, tmp_path: Path, penalty: float, wanted: str) -> None:
    """A whole solution two days late, a partial one in time, and nothing."""
    lab = replace(
        load("pieces", case="public"), late=LateRule(due=DUE, penalty=penalty, attempts="best")
    )
    attempts = (_attempt("cleo", -5), _attempt("ada", 30), _attempt("dan", 1))
    outcome, grade = _grade(lab, runner, tmp_path, *attempts)
    work = (tmp_path / "pieces" / "eve" / "submission" / "pieces.py").read_bytes()
    assert work == (DEMO / wanted / "pieces.py").read_bytes()
    possible = lab.possible
    assert grade["points"] == outcome.points
    if wanted == "ada":
        assert outcome.points == pytest.approx(possible * 0.8)
        assert grade["penalty"] == pytest.approx(possible * 0.2)
        assert grade["late"] == pytest.approx(30)
    else:
        assert 0 < outcome.points < possible
        assert grade["penalty"] == 0
    assert "the best of 3 attempts counts" in grade["notices"]  # type: ignore[operator]
    again, _ = _grade(lab, runner, tmp_path, *attempts)
    assert not again.again
    assert again.points == outcome.points
    more, _ = _grade(lab, runner, tmp_path, *attempts, _attempt("ada", -1))
    assert more.again
    assert more.points == pytest.approx(possible)


def test_a_later_due_date_gives_points_back_without_a_run(runner: Runner, tmp_path: Path) -> None:
    rule = LateRule(due=DUE, penalty=50)
    lab = replace(load("pieces", case="public"), late=rule)
    outcome, _ = _grade(lab, runner, tmp_path, _attempt("ada", 2))
    assert outcome.points == pytest.approx(lab.possible / 2)
    extended = replace(lab, late=replace(rule, extensions={"eve": DUE + timedelta(days=1)}))
    with Results(tmp_path, extended) as results:
        pipeline.regrade(extended, results, runner, to_run=_none, agree=lambda _: True)
    grade = json.loads((tmp_path / "pieces" / "eve" / "grade.json").read_text("utf-8"))
    assert grade["points"] == pytest.approx(lab.possible)
    assert (grade["penalty"], grade["late"]) == (0, 0)


def _none(case: str, count: int) -> None:
    raise AssertionError(f"{count} runs of {case} made again")
