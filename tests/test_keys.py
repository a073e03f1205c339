"""Digests: what changes a value changes its key, and nothing else does."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from grader import bundles, keys
from grader.assignment import load
from grader.records import Assignment, Run, Submission

SUBMISSION = Submission("ada", {"pieces.py": b"x = 1\n"}, "pieces.py")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for side in ("assignments", "solutions"):
        shutil.copytree(ROOT / side, tmp_path / side)
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    return tmp_path


def test_files_and_entry_make_a_submission() -> None:
    digest = keys.of_submission(SUBMISSION)
    for other in (
        replace(SUBMISSION, files={"pieces.py": b"x = 2\n"}),
        replace(SUBMISSION, files={"other.py": b"x = 1\n"}, entry="other.py"),
        replace(SUBMISSION, files={**SUBMISSION.files, "more.py": b""}),
        replace(SUBMISSION, entry=None),
    ):
        assert keys.of_submission(other) != digest
    for same in (
        replace(SUBMISSION, student="ben"),
        replace(SUBMISSION, notices=("took it",)),
        replace(SUBMISSION, files=dict(reversed([*SUBMISSION.files.items()]))),
    ):
        assert keys.of_submission(same) == digest


def _world(assignment: Assignment, number: int = 1) -> str:
    return keys.of_world(assignment, assignment.cases[number], bundles.find("tiny"))


@pytest.mark.parametrize(
    "path",
    [
        "assignments/course/text.py",
        "assignments/pieces/probes.py",
        "solutions/pieces/probes.py",
        "solutions/pieces/cases.toml",
    ],
)
def test_course_probes_and_rows_make_a_world(course: Path, path: str) -> None:
    before = _world(load("pieces"))
    edited = course / path
    if path.endswith(".toml"):
        edited.write_text(edited.read_text("utf-8").replace("seed = 2", "seed = 3", 1), "utf-8")
    else:
        had = edited.read_text("utf-8") if edited.exists() else ""
        edited.write_text(had + "\n# more\n", "utf-8")
    assert _world(load("pieces")) != before


def test_another_bundle_or_package_is_another_world(monkeypatch: pytest.MonkeyPatch) -> None:
    assignment, bundle = load("pieces"), bundles.find("tiny")
    before = _world(assignment)
    other = replace(bundle, digest="other")
    assert keys.of_world(assignment, assignment.cases[1], other) != before
    monkeypatch.setattr(keys, "packages", lambda: {"torch": "0"})
    assert _world(assignment) != before


def test_limits_shares_and_names_make_no_other_world() -> None:
    assignment = load("pieces")
    case = assignment.cases[1]
    other = replace(case, name="other", share=0.1, hidden=False, seconds=1.0, memory_mb=9)
    bundle = bundles.find("tiny")
    probes = replace(other, hidden=True)  # which probes are asked hangs on it
    assert keys.of_world(assignment, probes, bundle) == _world(assignment)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("assignments/pieces/test_public.py", "", "# more\n"),
        ("assignments/pieces/assignment.toml", "points = 2", "points = 3"),
        ("assignments/pieces/assignment.toml", 'title = "The words', 'title = "All words'),
        ("solutions/pieces/test_hidden.py", "", "# more\n"),
    ],
)
def test_checks_points_and_words_make_a_grade(course: Path, path: str, old: str, new: str) -> None:
    known = {"public": Run("public", "ok", None, submission="a", world="b")}
    before = keys.of_checks(load("pieces"), known)
    assert keys.of_checks(load("pieces"), known) == before
    edited = course / path
    text = edited.read_text("utf-8") if edited.exists() else ""
    edited.write_text(text.replace(old, new, 1) if old else text + new, "utf-8")
    assert keys.of_checks(load("pieces"), known) != before


def test_another_reference_makes_another_grade() -> None:
    known = {"public": Run("public", "ok", None, submission="a", world="b")}
    other = {"public": replace(known["public"], submission="c")}
    assert keys.of_checks(load("pieces"), known) != keys.of_checks(load("pieces"), other)


def test_what_is_told_of_the_files_is_part_of_the_grade() -> None:
    digest = keys.of_grade(SUBMISSION, {"public": "w"}, "c")
    assert keys.of_grade(replace(SUBMISSION, notices=("a",)), {"public": "w"}, "c") != digest
    assert keys.of_grade(SUBMISSION, {"public": "v"}, "c") != digest
    assert keys.of_grade(SUBMISSION, {"public": "w"}, "d") != digest
