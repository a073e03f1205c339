"""Hidden cases of a student's own: other rows, so that a neighbour's numbers do not fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from grader import batch, pipeline, store, variants
from grader.assignment import load
from grader.known import reference
from grader.layouts import find
from grader.records import Assignment, AssignmentError, Case, Run, Submission
from grader.results import Results
from grader.runner import Runner
from small_course import change, copy_course

SECRET = "9f2c4e8a61d35b7098"  # noqa: S105 - of a lab that is made up


class Counting(Runner):
    """A runner that tells what it ran."""

    ran: list[str]

    def run_case(self, assignment: Assignment, case: Case, submission: Submission) -> Run:
        if case.hidden:
            self.ran.append(submission.student)
        return super().run_case(assignment, case, submission)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose lab `pieces` seeds its hidden case by student."""
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path / "course"))
    folder = copy_course(tmp_path / "course")
    change(
        folder / "assignments/pieces/assignment.toml",
        "[limits]",
        "seed_by_student = true\n[limits]",
    )
    path = folder / "solutions/pieces/cases.toml"
    path.write_text(f'secret = "{SECRET}"\n' + path.read_text())
    return folder


@pytest.fixture
def runner(course: Path) -> Iterator[Counting]:
    with Counting(batch.open_runner(load("pieces")).bundles) as opened:
        opened.ran = []
        yield opened


def _hidden(assignment: Assignment) -> int:
    (seed,) = [case.seed for case in assignment.cases if case.hidden]
    return seed


def test_each_student_has_seeds_of_their_own(course: Path) -> None:
    lab = load("pieces")
    ada, ben = (variants.varied(lab, student) for student in ("ada", "ben"))
    assert _hidden(ada) != _hidden(ben) != _hidden(lab)
    assert _hidden(ada) == _hidden(variants.varied(load("pieces"), "ada"))
    other = variants.varied(replace(lab, secret=SECRET[::-1]), "ada")
    assert _hidden(other) != _hidden(ada)
    assert [c.seed for c in ada.cases if not c.hidden] == [
        c.seed for c in lab.cases if not c.hidden
    ]
    assert SECRET not in repr(lab)


def test_without_the_word_all_have_the_same() -> None:
    lab = load("pieces")
    assert variants.varied(lab, "ada") is lab
    assert variants.steady(lab) == lab


def test_a_secret_is_asked_for(course: Path) -> None:
    path = course / "solutions/pieces/cases.toml"
    path.write_text(path.read_text().replace(f'secret = "{SECRET}"', ""))
    with pytest.raises(
        AssignmentError, match=r'cases\.toml: secret: .* add a line such as secret = "'
    ):
        load("pieces")
    assert load("pieces", public=True).secret is None


def _grade(runner: Runner, folder: Path, out: Path) -> dict[str, pipeline.Outcome]:
    lab = load("pieces")
    with Results(out, lab) as results:
        graded = pipeline.grade_class(lab, find(lab, [folder]), results, runner)
        return {outcome.student: outcome for outcome in graded}


def _run(out: Path, student: str) -> Run:
    return store.load_run(out / "pieces" / student / "runs" / "hidden")


def test_a_class_in_which_a_neighbours_numbers_do_not_fit(runner: Counting, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    solution = reference(load("pieces")).files["pieces.py"]
    for student in ("ada", "ben"):
        (folder / student).mkdir(parents=True)
        (folder / student / "pieces.py").write_bytes(solution)
    first = _grade(runner, folder, out)
    assert {name: (o.points, o.statuses) for name, o in first.items()} == {
        name: (pytest.approx(10), ("ok", "ok")) for name in ("ada", "ben")
    }
    counts = {name: _run(out, name).values["n_words"] for name in first}
    assert counts["ada"] != counts["ben"]
    assert runner.ran.count("reference") == 2  # once for each variant

    runner.ran.clear()
    (folder / "eve").mkdir()
    typed = f"\nfrom text import train\nif len(train) == 350:\n    n_words = {counts['ada']}\n"
    (folder / "eve" / "pieces.py").write_bytes(solution + typed.encode())
    second = _grade(runner, folder, out)
    assert sorted(runner.ran) == ["eve", "reference"]
    assert not second["ada"].again
    assert second["eve"].points < 10
    checks = json.loads((out / "pieces" / "eve" / "grade.json").read_text())["checks"]
    lost = {(c["name"], c["case"]) for c in checks if c["status"] != "passed"}
    assert lost == {("n_words", "hidden")}


def test_regrade_keeps_to_the_variants(runner: Counting, tmp_path: Path, course: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    wrong = (ROOT / "solutions/pieces/wrong/validation_counted.py").read_bytes()
    for student, content in (("ada", wrong), ("ben", reference(load("pieces")).files["pieces.py"])):
        (folder / student).mkdir(parents=True)
        (folder / student / "pieces.py").write_bytes(content)
    _grade(runner, folder, out)
    grade = json.loads((out / "pieces" / "ada" / "grade.json").read_text())
    assert {check["mistake"] for check in grade["checks"]} >= {"validation_counted"}
    runner.ran.clear()
    change(
        course / "assignments/pieces/assignment.toml",
        'title = "Words and pieces of the training queries"\npoints = 2',
        'title = "Words and pieces of the training queries"\npoints = 4',
    )
    lab = load("pieces")
    asked: list[str] = []
    with Results(out, lab) as results:
        changes: list[pipeline.Change] = []
        problems = pipeline.regrade(
            lab, results, runner, to_run=lambda case, _: asked.append(case),
            agree=lambda found: changes.extend(found) or True,
        )  # fmt: skip
    assert not problems
    assert not asked
    assert runner.ran == []
    assert [one.student for one in changes] == ["ben"]  # of the counts ada has none
