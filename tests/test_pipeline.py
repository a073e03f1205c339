"""A class: nothing is run twice, a killed grader goes on, a regrade starts no child."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from grader import bundles, pipeline
from grader.assignment import load
from grader.collect import Source
from grader.known import known
from grader.layouts import find
from grader.records import Assignment, Case, GraderError, Run, SandboxError, Submission
from grader.results import Results
from grader.runner import Runner

DEMO = ROOT / "demo" / "pieces"
#: The reference and the known mistakes, which are run as well, once.
OURS = {"reference", *(path.stem for path in (ROOT / "solutions/pieces/wrong").glob("*.py"))}


class Counting(Runner):
    """A runner that counts what it runs, and can fail at will."""

    def __init__(self) -> None:
        super().__init__({"tiny": bundles.find("tiny")})
        self.ran: list[str] = []
        self.fails: dict[str, int] = {}  # student -> how often yet

    def run_case(self, assignment: Assignment, case: Case, submission: Submission) -> Run:
        if submission.student not in OURS:
            self.ran.append(f"{submission.student} {case.name}")
        if self.fails.get(submission.student, 0):
            self.fails[submission.student] -= 1
            raise SandboxError("the warm process is gone")
        return super().run_case(assignment, case, submission)


@pytest.fixture(scope="module")
def counting() -> Iterator[Counting]:
    with Counting() as runner:
        yield runner


@pytest.fixture
def runner(counting: Counting) -> Counting:
    counting.ran.clear()
    counting.fails.clear()
    known(load("pieces"), counting.bundles, counting.run_case)
    return counting


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of our own to change."""
    folder = tmp_path / "course"
    for side in ("assignments", "solutions"):
        for part in ("course", "pieces"):
            if (ROOT / side / part).exists():
                shutil.copytree(ROOT / side / part, folder / side / part)
    monkeypatch.setenv("GRADER_COURSE", str(folder))
    return folder


def _class(folder: Path, **students: str) -> Path:
    """A class by student: whose file of the sample class each hands in."""
    for student, sample in students.items():
        (folder / student).mkdir(parents=True)
        shutil.copyfile(DEMO / sample / "pieces.py", folder / student / "pieces.py")
    return folder


def _grade(
    runner: Runner, folder: Path, out: Path, lab: Assignment | None = None, **options: Any
) -> dict[str, pipeline.Outcome]:
    assignment = lab or load("pieces")
    found = find(assignment, [folder])
    with Results(out, assignment) as results:
        graded = pipeline.grade_class(assignment, found, results, runner, **options)
        return {outcome.student: outcome for outcome in graded}


#: Seconds and memory at the end of a row of a table in Markdown.
_TIMES = re.compile(r"\| [\d.]+ \| \d+ \|$", re.MULTILINE)


def _files(folder: Path) -> dict[str, Any]:
    """Every file of a results folder but for what differs from time to time."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or path.name in ("journal.jsonl", ".lock"):
            continue
        if path.suffix == ".json":
            found[name] = _timeless(json.loads(path.read_text("utf-8")))
        elif path.suffix == ".html":  # made of the others, and shows seconds and memory
            found[name] = None
        elif path.suffix == ".md":
            found[name] = _TIMES.sub("", path.read_text("utf-8"))
        else:
            found[name] = path.read_bytes()
    return found


def _timeless(content: Any) -> Any:
    times = {"seconds", "cpu_seconds", "memory_mb", "duration", "created", "tests", "environment"}
    if isinstance(content, dict):
        return {key: _timeless(value) for key, value in content.items() if key not in times}
    return [_timeless(one) for one in content] if isinstance(content, list) else content


def test_nothing_is_run_twice(runner: Counting, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="ada", ben="ben", dan="dan")
    first = _grade(runner, folder, tmp_path / "out")
    assert len(runner.ran) == 6
    before = _files(tmp_path / "out")
    again = _grade(runner, folder, tmp_path / "out")
    assert len(runner.ran) == 6
    assert not any(outcome.again for outcome in again.values())
    assert {n: o.points for n, o in again.items()} == {n: o.points for n, o in first.items()}
    assert _files(tmp_path / "out") == before


def test_a_changed_submission_alone_is_run_again(runner: Counting, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="dan", ben="ben")
    _grade(runner, folder, tmp_path / "out")
    runner.ran.clear()
    shutil.copyfile(DEMO / "ada" / "pieces.py", folder / "ada" / "pieces.py")
    again = _grade(runner, folder, tmp_path / "out")
    assert sorted(runner.ran) == ["ada hidden", "ada public"]
    assert again["ada"].points == pytest.approx(10)
    former = tmp_path / "out" / "pieces" / "ada" / "former" / "1.json"
    assert json.loads(former.read_text("utf-8"))["points"] == 0


def test_fresh_runs_everything_again(runner: Counting, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="ada", dan="dan")
    _grade(runner, folder, tmp_path / "out")
    runner.ran.clear()
    assert all(o.again for o in _grade(runner, folder, tmp_path / "out", fresh=True).values())
    assert len(runner.ran) == 4


def test_identical_submissions_run_once_and_each_has_its_grade(
    runner: Counting, tmp_path: Path
) -> None:
    folder = _class(tmp_path / "in", ada="cleo", ben="cleo", zoe="ben", cleo="cleo")
    graded = _grade(runner, folder, tmp_path / "out")
    assert len(runner.ran) == 4
    late = _class(tmp_path / "late", dora="cleo", emil="dan")
    graded |= _grade(runner, late, tmp_path / "out")
    assert len(runner.ran) == 6
    assert len({graded[name].points for name in ("ada", "ben", "cleo", "dora")}) == 1
    for name in ("ada", "ben", "cleo", "dora"):
        page = (tmp_path / "out" / "pieces" / name / "feedback.md").read_text("utf-8")
        assert f"({name})" in page


def test_a_failure_of_ours_is_tried_again(runner: Counting, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="ada", ben="ben")
    runner.fails = {"ada": 1}
    assert _grade(runner, folder, tmp_path / "out")["ada"].points == pytest.approx(10)


def test_a_lasting_failure_of_ours_costs_no_other_student(runner: Counting, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="ada", ben="ben", cleo="cleo")
    runner.fails = {"ben": 100}
    with pytest.raises(SandboxError, match="ben could not be run"):
        _grade(runner, folder, tmp_path / "out")
    written = {path.parent.name for path in (tmp_path / "out").rglob("grade.json")}
    assert written == {"ada", "cleo"}
    runner.fails = {}
    runner.ran.clear()
    assert _grade(runner, folder, tmp_path / "out")["ben"].again
    assert {line.split()[0] for line in runner.ran} == {"ben"}


def test_when_everything_fails_we_give_up(runner: Counting, tmp_path: Path) -> None:
    names = {f"s{number:02}": "ada" for number in range(40)}
    folder = _class(tmp_path / "in", **names)
    for number, name in enumerate(names):  # all different, so that none is shared
        (folder / name / "pieces.py").write_text(f"x = {number}\n", "utf-8")
    runner.fails = dict.fromkeys(names, 100)
    with pytest.raises(SandboxError):
        _grade(runner, folder, tmp_path / "out")
    assert len({line.split()[0] for line in runner.ran}) < 40


def test_a_submission_that_cannot_be_read_costs_no_other_student(
    runner: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _class(tmp_path / "in", ada="ada", ben="ben")
    collect = pipeline.collect

    def unreadable(assignment: Assignment, source: Source) -> Submission:
        if source.student == "ada":
            raise GraderError(f"{source.where}: cannot be read: Permission denied")
        return collect(assignment, source)

    monkeypatch.setattr(pipeline, "collect", unreadable)
    with pytest.raises(GraderError, match="ada: cannot be read"):
        _grade(runner, folder, tmp_path / "out")
    assert (tmp_path / "out" / "pieces" / "ben" / "grade.json").is_file()


# Regrading ----------------------------------------------------------------------------------------


def _regrade(
    runner: Runner, out: Path, *, write: bool = True
) -> tuple[list[pipeline.Change], list[tuple[str, int]], list[str]]:
    assignment = load("pieces")
    seen: list[pipeline.Change] = []
    to_run: list[tuple[str, int]] = []

    def agree(changes: list[pipeline.Change]) -> bool:
        seen.extend(changes)
        return write

    with Results(out, assignment) as results:
        problems = pipeline.regrade(
            assignment, results, runner, to_run=lambda *case: to_run.append(case), agree=agree
        )
    return seen, to_run, problems


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_regrade_after_a_change_of_points(runner: Counting, course: Path, tmp_path: Path) -> None:
    folder = _class(tmp_path / "in", ada="ada", cleo="cleo", dan="dan")
    before = {n: o.points for n, o in _grade(runner, folder, tmp_path / "out").items()}
    runner.ran.clear()
    toml = course / "assignments" / "pieces" / "assignment.toml"
    _edit(toml, "points = 3", "points = 4")
    files = _files(tmp_path / "out")
    dry, _, _ = _regrade(runner, tmp_path / "out", write=False)
    assert _files(tmp_path / "out") == files
    changes, to_run, problems = _regrade(runner, tmp_path / "out")
    assert changes == dry
    assert (runner.ran, to_run, problems) == ([], [], [])
    assert {c.student: c.before for c in changes} == {n: before[n] for n in ("ada", "cleo")}
    after = {change.student: change.after for change in changes}
    assert after["ada"] == pytest.approx(12)
    assert any(" of " in line for line in changes[0].checks)
    former = json.loads((tmp_path / "out/pieces/ada/former/1.json").read_text("utf-8"))
    assert former["points"] == before["ada"]
    assert _regrade(runner, tmp_path / "out")[0] == []
    assert not any(o.again for o in _grade(runner, folder, tmp_path / "out").values())


def test_regrade_makes_the_runs_whose_case_has_changed_and_no_other(
    runner: Counting, course: Path, tmp_path: Path
) -> None:
    folder = _class(tmp_path / "in", ada="ada", dan="dan")
    _grade(runner, folder, tmp_path / "out")
    runner.ran.clear()
    shutil.rmtree(folder)  # what was handed in is in the results
    _edit(
        course / "solutions" / "pieces" / "cases.toml",
        "seed = 2\nshare = 0.6",
        "seed = 5\nshare = 0.6",
    )
    _, to_run, problems = _regrade(runner, tmp_path / "out")
    assert to_run == [("hidden", 2)]
    assert sorted(runner.ran) == ["ada hidden", "dan hidden"]
    assert problems == []
    runner.ran.clear()
    assert _regrade(runner, tmp_path / "out")[1] == []
    assert runner.ran == []


def test_regrade_with_a_broken_check_changes_nothing(
    runner: Counting, course: Path, tmp_path: Path
) -> None:
    folder = _class(tmp_path / "in", ada="ada", dan="dan")
    _grade(runner, folder, tmp_path / "out")
    before = _files(tmp_path / "out")
    checks = course / "assignments" / "pieces" / "test_public.py"
    text = checks.read_text("utf-8")
    head = text.index("def test_")
    body = text.index("\n", text.index('"""', text.index('"""', head) + 3)) + 1
    checks.write_text(text[:body] + "    nowhere\n" + text[body:], "utf-8")
    _, _, problems = _regrade(runner, tmp_path / "out")
    assert len(problems) == 2
    assert all("the former grade stands" in problem for problem in problems)
    assert _files(tmp_path / "out") == before


# Killing ------------------------------------------------------------------------------------------


def _start(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    words = ["grade", "pieces", str(folder), "--out", str(out), "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "grader", *words],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder.parent)},
    )


def _count(out: Path) -> int:
    journal = out / "pieces" / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_a_killed_grader_goes_on_where_it_was(tmp_path: Path) -> None:
    """Two kills at moments drawn at random; `benchmarks/kills.py` does more of them."""
    names = {
        f"s{n:02}": sample for n, sample in enumerate(["ada", "ben", "cleo", "dan", "eva"] * 2)
    }
    folder = _class(tmp_path / "in", **names)
    for number, name in enumerate(names):
        with (folder / name / "pieces.py").open("a") as stream:
            stream.write(f"\n# {number}\n")
    assert _start(folder, tmp_path / "whole").wait() == 0
    rng = random.Random(4)
    for goal in (1, 5):
        grader = _start(folder, tmp_path / "killed")
        while _count(tmp_path / "killed") < goal and grader.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.2)
        grader.send_signal(signal.SIGKILL)
        grader.wait()
    done = _count(tmp_path / "killed")
    assert goal <= done < len(names)
    assert _start(folder, tmp_path / "killed").wait() == 0
    assert _files(tmp_path / "killed") == _files(tmp_path / "whole")
    entries = (tmp_path / "killed" / "pieces" / "journal.jsonl").read_text("utf-8").splitlines()
    assert sorted(json.loads(entry)["student"] for entry in entries) == sorted(names)


def test_the_best_and_the_worst_in_one_class(runner: Counting, tmp_path: Path) -> None:
    """Hanging, crashing, flooding and greedy submissions leave the good ones' grades alone."""
    folder = _class(tmp_path / "in", good1="ada", good2="ben", good3="cleo", good4="ada")
    alone = _grade(runner, folder, tmp_path / "alone", replace(load("pieces")))
    bad = {
        "hangs": "while True: pass",
        "crashes": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "floods": "while True: print('x' * 10**6)",
        "eats": "x = bytearray(10**10)",
        "exits": "import os; os._exit(0)",
    }
    for name, code in bad.items():
        (folder / name).mkdir()
        (folder / name / "pieces.py").write_text(code + "\n", "utf-8")
    lab = load("pieces", seconds=6)
    mixed = _grade(runner, folder, tmp_path / "mixed", lab)
    statuses = {name: mixed[name].statuses for name in bad}
    assert statuses["hangs"] == ("timeout", "timeout")
    assert statuses["floods"] == ("output", "output")
    assert statuses["eats"] == ("memory", "memory")
    for name in ("good1", "good2", "good3", "good4"):
        assert (mixed[name].points, mixed[name].statuses) == (alone[name].points, ("ok", "ok"))
    assert all(mixed[name].points == 0 for name in bad)
