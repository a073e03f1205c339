"""The sample class that `make demo` grades, and scripts whose numbers were typed in by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from grader import batch
from grader.assignment import load
from grader.collect import collect
from grader.home import labs
from grader.known import known
from grader.records import Assignment, Grade, Submission
from grader.runner import Runner

STATUSES = {
    "ada": "ok", "ben": "ok", "cleo": "ok", "dan": "ok", "eva": "error", "finn": "timeout",
}  # fmt: skip


@pytest.fixture(scope="module", params=labs())
def lab(request: pytest.FixtureRequest) -> Assignment:
    """Each lab, with a wall clock that the endless sample waits out."""
    return load(request.param, seconds=20)


@pytest.fixture(scope="module")
def sample(lab: Assignment, runner: Runner) -> dict[str, Grade]:
    """The sample class of a lab, graded in one batch."""
    folders = sorted(path for path in (ROOT / "demo" / lab.name).iterdir() if path.is_dir())
    submissions = [collect(lab, folder) for folder in folders]
    return {grade.student: grade for grade, _ in batch.grade_all(lab, submissions, runner)}


def test_each_sample_ends_as_it_should(sample: dict[str, Grade]) -> None:
    found = {student: {run.status for run in grade.runs} for student, grade in sample.items()}
    assert found == {student: {status} for student, status in STATUSES.items()}
    assert not [grade for grade in sample.values() if grade.review]


def test_points_of_the_sample(sample: dict[str, Grade]) -> None:
    share = {student: grade.points / grade.possible for student, grade in sample.items()}
    assert share["ada"] == pytest.approx(1)
    assert share["dan"] == 0
    for student in ("ben", "cleo", "eva"):
        assert 0 < share[student] < 1, student
    assert share["finn"] < 0.2
    assert len({grade.possible for grade in sample.values()}) == 1


def test_typed_in_lines_earn_nothing_on_the_hidden_case(lab: Assignment, runner: Runner) -> None:
    """A script that prints the public case's lines and computes nothing."""
    reference = known(lab, runner.bundles, runner.run_case)
    script = f"print({reference['public'].output!r})\n".encode()
    grade = _graded(lab, script, runner)
    lines = {case: _earned(grade, case, "lines") for case in ("public", "hidden")}
    assert lines["public"] > 0
    assert _earned(grade, "hidden") == 0, grade.checks


def test_typed_in_values_earn_nothing_on_the_hidden_case(runner: Runner) -> None:
    """Every word, piece and number of the public case, typed in as literals."""
    pieces = load("pieces")
    reference = known(pieces, runner.bundles, runner.run_case)["public"]
    names = ("words", "pieces", "whole", "n_words", "n_pieces")
    typed = [f"{name} = {reference.values[name]!r}" for name in names]
    script = "\n".join([*typed, f"print({reference.output!r})"]).encode()
    grade = _graded(pieces, script, runner)
    assert _earned(grade, "public") == pytest.approx(4)
    assert _earned(grade, "hidden") == 0


def _graded(assignment: Assignment, script: bytes, runner: Runner) -> Grade:
    submission = Submission("typed", {assignment.file: script}, assignment.file)
    ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    return grade


def _earned(grade: Grade, case: str, part: str | None = None) -> float:
    checks = [check for check in grade.checks if check.case == case]
    return sum(check.earned for check in checks if part in (None, check.part))


def test_expected_values_in_the_students_copy_are_the_references(
    lab: Assignment, runner: Runner
) -> None:
    """What `make expected` wrote is what the reference gives now."""
    public = load(lab.name, public=True)
    kept = known(public, runner.bundles, runner.run_case)
    case = next(case for case in lab.cases if not case.hidden)
    submission = Submission(
        "reference", {lab.file: (_solution(lab) / lab.file).read_bytes()}, lab.file
    )
    run = runner.run_case(load(lab.name), case, submission)
    grade, _ = batch.judge(public, kept, submission, (run,))
    assert grade.points == pytest.approx(public.possible), grade.checks
    assert set(kept[case.name].values) == set(run.values)


def _solution(lab: Assignment) -> Path:
    assert lab.solutions is not None
    return lab.solutions
