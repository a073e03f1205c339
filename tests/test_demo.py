"""The sample class that `make demo` grades, and scripts whose numbers were typed in by hand."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from conftest import ROOT
from grader import batch, compared, guarded, render
from grader.assignment import load
from grader.collect import collect
from grader.feedback import feedback
from grader.home import labs
from grader.known import known
from grader.records import Assignment, Disclosure, Grade, Run, Submission, Value
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


#: Points, seconds and megabytes have fewer digits, so that a value is told from them.
TOKEN = re.compile(r"-?\d+\.\d{3,}|\d{4,}|[^\W\d]\w{2,}")


def _tokens(text: str) -> set[str]:
    """The words of a text, and the numbers that are no small whole ones."""
    return set(TOKEN.findall(text.lower()))


def _values(values: Iterable[Value]) -> Iterator[str]:
    """Values as a page might show them."""
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            for number in value.flatten()[:20_000].tolist():
                yield from (f"{number:.6g}", f"{number:.4f}", f"{number:.8g}")
        elif isinstance(value, float):
            yield from (f"{value:.6g}", f"{value:.4f}", f"{value:.8g}")
        elif isinstance(value, dict):
            yield from value
            yield from _values(value.values())
        elif isinstance(value, list):
            yield from _values(value)
        else:
            yield str(value)


def _secret(lab: Assignment, reference: dict[str, Run]) -> set[str]:
    """What only the reference's values on hidden data have: no public value, no word of the lab."""
    public = [path for path in lab.folder.rglob("*") if path.suffix in (".py", ".md", ".toml")]
    public += [*lab.course.glob("*.py"), *ROOT.glob("templates/*")]
    known_words = _tokens("\n".join(path.read_text("utf-8") for path in public))
    found: dict[bool, set[str]] = {True: set(), False: known_words}
    for case in lab.cases:
        run = reference[case.name]
        found[case.hidden] |= _tokens("\n".join([run.output, *_values(run.values.values())]))
    return found[True] - found[False]


def _student_files(lab: Assignment, grade: Grade, files: Submission) -> str:
    """All that a student gets of a grade, in the three formats."""
    shown = feedback(lab, grade, files)
    stream = io.StringIO()
    render.print_feedback(Console(file=stream, width=200), shown)
    pages = [render.page(f"feedback.{kind}", shown) for kind in ("html", "md")]
    html = re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", pages[0], flags=re.DOTALL)
    return "\n".join([html, pages[1], stream.getvalue()])


def test_no_hidden_expected_value_is_in_any_file_of_a_student(
    lab: Assignment, sample: dict[str, Grade], runner: Runner
) -> None:
    """At every level but `all`, where the search does find some: it can."""
    reference = known(lab, runner.bundles, runner.run_case)
    secret = _secret(lab, reference)
    assert len(secret) > 100
    found: dict[Disclosure, set[str]] = {"name": set(), "message": set(), "all": set()}
    for student, grade in sample.items():
        files = collect(lab, ROOT / "demo" / lab.name / student)
        own = _tokens(" ".join(data.decode() for data in files.files.values()))
        public = {case.name for case in lab.cases if not case.hidden}
        for run in grade.runs:  # what is their own on public data may happen to be the same
            values = _values(run.values.values()) if run.case in public else ()
            own |= _tokens("\n".join([run.output, *values]))
        for level in found:
            chosen = replace(lab, disclosure={"default": level})
            checks = compared.compared(chosen, grade.checks, reference, grade.runs)
            checks = guarded.guard(chosen, checks, reference, grade.runs, files.files)
            text = _student_files(chosen, replace(grade, checks=checks), files)
            found[level] |= _tokens(text) & (secret - own)
    assert found["name"] == set()
    assert found["message"] == set()
    assert found["all"]


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
