"""`grader verify`: green on a sound lab, red for each way in which one may be spoilt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from grader import matrix
from grader.assignment import load
from grader.records import Submission
from grader.runner import Runner
from grader.verify import Row, Verification, _examine, verify
from small_course import change, copy_course

Verify = Callable[[str], Verification]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    return copy_course(tmp_path)


@pytest.fixture
def run(course: Path, runner: Runner) -> Verify:
    return lambda lab: verify(load(lab), runner)


def told(found: Verification, where: str) -> str:
    """What is said of a place."""
    return "\n".join(problem.message for problem in found.problems if problem.where == where)


def test_a_sound_lab_holds(run: Verify) -> None:
    found = run("pieces")
    assert not found.problems
    names = [row.file.name for row in found.rows]
    assert names == [
        "reference",
        "reference, 2 threads",
        "stub",
        "wrong/reserved_kept",
        "wrong/special_tokens_in_pieces",
        "wrong/validation_counted",
        "right/five_lines",
        "right/ids_and_back",
    ]
    assert found.failed_by["words", "words"] == ("wrong/reserved_kept",)
    assert all(found.failed_by.values())
    assert len(found.failed_by) == 6
    assert matrix.holds(found, None)


def test_a_stub_that_already_works(course: Path, run: Verify) -> None:
    stub = course / "assignments" / "pieces" / "pieces.py"
    change(stub, "n_words = ...", "from text import tokenize, train\n"
           "n_words = sum(len(tokenize(text)) for text in train['text'])")  # fmt: skip
    found = run("pieces")
    assert told(found, "stub") == (
        "the untouched stub earns points: n_words (public), n_words (hidden)"
    )
    assert [problem.where for problem in found.problems] == ["stub"]


def test_a_check_that_asserts_nothing(course: Path, run: Verify) -> None:
    with (course / "assignments" / "pieces" / "test_public.py").open("a") as checks:
        checks.write(
            '\n\n@pytest.mark.part("words")\ndef test_idle(student, reference):\n'
            '    student["words"] == reference["words"]\n'
        )
    found = run("pieces")
    assert "no wrong file fails it" in told(found, "check idle")
    assert [problem.where for problem in found.problems] == ["check idle"]


def test_a_hidden_case_equal_to_the_public_one(course: Path, run: Verify) -> None:
    cases = course / "solutions" / "pieces" / "cases.toml"
    change(cases, "train = 350\nval = 100\ntest = 100\nseed = 2\nshare = 0.6", "train = 400\n"
           "val = 120\ntest = 120\nseed = 1\nshare = 0.6")  # fmt: skip
    found = run("pieces")
    assert told(found, "case hidden") == (
        "the answers of case public earn everything: it hides nothing"
    )


def test_a_solution_with_one_wrong_line(course: Path, run: Verify) -> None:
    change(course / "solutions" / "pieces" / "pieces.py", "len(cut) == 1", "len(cut) <= 2")
    found = run("pieces")
    assert "it is right, but loses whole (public)" in told(found, "right/five_lines")
    assert "whole" in told(found, "right/ids_and_back")


def test_a_tolerance_of_a_tenth(course: Path, run: Verify) -> None:
    assert not run("means").problems
    change(course / "assignments" / "means" / "test_public.py", "atol=1e-5", "atol=1e-1")
    found = run("means")
    assert told(found, "wrong/pads") == "it should lose means, but earns all of it"
    assert "no wrong file fails it" in told(found, "check means")


def test_a_solution_that_is_not_the_same_twice(course: Path, run: Verify) -> None:
    solution = course / "solutions" / "means" / "means.py"
    change(solution, "mask.sum(1)", "mask.sum(1) + __import__('os').urandom(1)[0]")
    found = run("means")
    for name in ("reference", "reference, 2 threads"):
        assert "it is right, but loses means (public)" in told(found, name)


def test_a_solution_that_depends_on_threads(course: Path, run: Verify) -> None:
    solution = course / "solutions" / "means" / "means.py"
    change(solution, "mask.sum(1)", "mask.sum(1) + __import__('torch').get_num_threads() - 1")
    found = run("means")
    assert [problem.where for problem in found.problems] == ["reference, 2 threads"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> dict[str, Row]:
    """Files of `pieces` with their grades."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("course")
        patch.setenv("GRADER_COURSE", str(folder))
        copy_course(folder)
        return {row.file.name: row for row in verify(load("pieces"), runner).rows}


@pytest.mark.parametrize(
    ("loses", "message"),
    [
        ({"words", "lines"}, ""),
        ({"words"}, "it loses more than it names: lines (public), lines (hidden)"),
        ({"words", "lines", "counts"}, "it should lose counts, but earns all of it"),
        ({"words", "lines", "sums"}, "`Loses:` names no part: sums"),
        (set(), "its docstring has no line `Loses:`"),
    ],
)
def test_a_wrong_file_that_does_not_lose_what_it_says(
    loses: set[str], message: str, rows: dict[str, Row]
) -> None:
    row = rows["wrong/reserved_kept"]
    changed = Row(replace(row.file, loses=frozenset(loses)), row.grade)
    problems = [problem.message for problem in _examine(load("pieces"), changed)]
    assert len(problems) == bool(message)
    assert message in "".join(problems)


def test_a_right_file_taken_for_a_mistake(rows: dict[str, Row]) -> None:
    """A diagnosis of a right file is a fault, even where it costs nothing."""
    row = rows["right/five_lines"]
    checks = tuple(replace(check, mistake="pads") for check in row.grade.checks)
    mistaken = Row(row.file, replace(row.grade, checks=checks))
    assert not list(_examine(load("pieces"), row))
    (problem,) = _examine(load("pieces"), mistaken)
    assert problem.message == "it is right, but is taken for the mistake pads"


def test_a_check_that_goes_wrong_is_no_loss(course: Path, run: Verify) -> None:
    """A check that raises costs points as a wrong answer would, but is a fault of the lab's."""
    change(
        course / "assignments" / "means" / "test_public.py",
        "    close(",
        "    if float(student['means'].sum()) < 0.9: raise KeyError('ours')\n    close(",
    )
    sums = {row.file.name: row.grade.checks[0].status for row in run("means").rows}
    assert sums["wrong/pads"] == "error"
    assert "check means in case public is error: 'ours'" in told(run("means"), "wrong/pads")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("solutions/means/means.py", "1 / 0", "the reference does not run in case public"),
        ("assignments/means/test_public.py", "1 / 0", "the checks cannot be loaded"),
        ("solutions/means/wrong/pads.py", "def", "it cannot be read"),
    ],
)
def test_a_lab_that_does_not_run_is_told(
    file: str, content: str, message: str, course: Path, run: Verify
) -> None:
    (course / file).write_text(content)
    assert message in told(run("means"), "means")


def test_threads_reach_the_script(course: Path, runner: Runner) -> None:
    assignment = load("means")
    script = b"import torch\nprint(torch.get_num_threads())\n"
    script += b"print(torch.randn(600, 600).mm(torch.randn(600, 600)).shape)\n"
    submission = Submission("ada", {"means.py": script}, "means.py")
    for threads in (1, 2):
        run = runner.run_case(assignment, assignment.cases[0], submission, threads)
        assert run.output.splitlines() == [str(threads), "torch.Size([600, 600])"], run


def grader(*arguments: object, course: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "GRADER_COURSE": str(course)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_on_labs_that_hold(course: Path, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "verify.html"
    done = grader("verify", "--all", "--json", "--out", page, course=course)
    assert done.returncode == 0, done.stderr + done.stdout
    means, pieces = json.loads(done.stdout)["labs"]
    assert (means["lab"], pieces["lab"]) == ("means", "pieces")
    assert means["holds"]
    assert pieces["holds"]
    points = {file["file"]: file["points"] for file in means["files"]}
    assert points["wrong/pads"] == {"means": 0}
    assert points["right/loop"] == {"means": 2}
    assert {"part": "means", "check": "means", "failed_by": ["wrong/pads"]} in means["checks"]
    html = page.read_text("utf-8")
    assert html.count("All holds.") == 2
    assert '<td class="n lost">0</td>' in html


def test_the_command_on_a_lab_that_does_not(course: Path, tmp_path: Path) -> None:
    change(course / "assignments" / "means" / "test_public.py", "atol=1e-5", "atol=1e-1")
    page = tmp_path / "verify.html"
    done = grader("verify", "means", "--out", page, course=course)
    assert done.returncode == 1, done.stderr
    assert "wrong/pads: it should lose means" in done.stdout
    assert "2 !" in done.stdout
    assert "Something does not hold." in page.read_text("utf-8")


def test_the_command_without_one_lab(course: Path) -> None:
    done = grader("verify", "means", "--all", course=course)
    assert done.returncode == 2
    assert done.stderr.startswith("grader: ")
    assert "Traceback" not in done.stderr
