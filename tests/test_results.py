"""A results folder: what is kept, what is done again, and who may write."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader import classlist, keys
from grader.records import Assignment, Case, Check, Grade, GraderError, Part, Run, Submission
from grader.results import Results

CASE = Case("public", "tiny", 1, 1, 1, 0, 1.0, hidden=False, seconds=5.0, memory_mb=100)
ASSIGNMENT = Assignment(
    "lab", "A lab", "lab.py", (Part("one", "One", 4.0),), (CASE,), (), Path(), Path(), None
)
FILES = {"lab.py": b"x = 1\n", "helpers/more.py": b"y = 2\n"}
SUBMISSION = Submission("ada", FILES, "lab.py", None, ("a notice",))
DIGEST = keys.of_submission(SUBMISSION)


def _grade(student: str = "ada", run_status: Any = "ok", **check: Any) -> Grade:
    run = Run(
        "public",
        run_status,
        None,
        {"a": torch.ones(2)},
        tier="full",
        submission=DIGEST,
        world="w",
    )
    fields = {"earned": 4.0, "status": "passed", "message": None, **check}
    found = Check(
        name="c",
        part="one",
        points=4.0,
        case="public",
        hidden=False,
        asked="?",
        hint=None,
        **fields,
    )
    wrong = found.status == "error"
    return Grade("lab", student, found.earned, 4.0, wrong, ("a notice",), (run,), (found,), "full")


def _save(results: Results, grade: Grade, digest: str = "d") -> str | None:
    submission = replace(SUBMISSION, student=grade.student)
    return results.save(submission, grade, {"tests": []}, digest, grade.runs)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with one student's results."""
    with Results(tmp_path, ASSIGNMENT) as results:
        assert _save(results, _grade()) is None
    return tmp_path


def test_a_run_is_found_again_by_its_files_and_world(saved: Path) -> None:
    with Results(saved, ASSIGNMENT) as results:
        found = results.kept(CASE, DIGEST, "w")
        assert found is not None
        assert torch.equal(found.values["a"], torch.ones(2))  # type: ignore[arg-type]
        assert results.kept(CASE, DIGEST, "another") is None
        assert results.kept(CASE, "another", "w") is None
        assert results.has_run("ada", "w")
        assert not results.has_run("ada", "another")


@pytest.mark.parametrize("name", ["public.json", "public.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"{}"])
def test_a_run_that_is_not_whole_is_made_again(
    saved: Path, name: str, content: bytes | None
) -> None:
    path = saved / "lab" / "ada" / "runs" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with Results(saved, ASSIGNMENT) as results:
        assert results.kept(CASE, DIGEST, "w") is None


def test_a_run_confined_less_than_is_asked_is_made_again(saved: Path) -> None:
    path = saved / "lab" / "ada" / "runs" / "public.json"
    path.write_text(path.read_text("utf-8").replace('"full"', '"limits"'), "utf-8")
    for tier, found in (("full", False), ("container", False), ("limits", True)):
        with Results(saved, ASSIGNMENT, tier) as results:  # type: ignore[arg-type]
            assert (results.kept(CASE, DIGEST, "w") is not None) == found, tier


@pytest.mark.parametrize("status", ["timeout", "memory"])
def test_what_met_a_limit_is_run_again_when_the_limit_grows(tmp_path: Path, status: str) -> None:
    with Results(tmp_path, ASSIGNMENT) as results:
        _save(results, _grade(run_status=status))
    for case, again in (
        (CASE, False),
        (replace(CASE, seconds=4.0), False),
        (replace(CASE, seconds=6.0), True),
        (replace(CASE, memory_mb=200), True),
    ):
        with Results(tmp_path, replace(ASSIGNMENT, cases=(case,))) as results:
            assert (results.kept(case, DIGEST, "w") is None) == again
            assert (results.finished("ada", "d") is None) == again
            assert results.stored(case, DIGEST, "w") is not None


def test_a_finished_student_is_known_by_the_digest(saved: Path) -> None:
    with Results(saved, ASSIGNMENT) as results:
        assert results.finished("ada", "d")
        assert not results.finished("ada", "e")
        assert not results.finished("ben", "d")
        (saved / "lab" / "ada" / "grade.json").unlink()
        assert not results.finished("ada", "d")


def test_two_graders_do_not_share_a_folder(saved: Path) -> None:
    with (
        Results(saved, ASSIGNMENT),
        pytest.raises(GraderError, match="another grader"),
        Results(saved, ASSIGNMENT),
    ):
        pass
    with Results(saved, ASSIGNMENT):  # free again
        pass


def test_a_torn_line_of_the_journal_is_left_out_and_closed(saved: Path) -> None:
    journal = saved / "lab" / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:-20])
    with Results(saved, ASSIGNMENT) as results:
        assert results.students() == ["ada"]
        _save(results, _grade("ben"))
    with Results(saved, ASSIGNMENT) as results:
        assert results.students() == ["ada", "ben"]


def test_files_that_were_being_written_are_removed(saved: Path) -> None:
    torn = saved / "lab" / "ada" / ".grade.json.x1.part"
    torn.write_text("{", "utf-8")
    with Results(saved, ASSIGNMENT):
        assert not torn.exists()


def test_what_was_handed_in_comes_back(saved: Path) -> None:
    with Results(saved, ASSIGNMENT) as results:
        assert results.submission("ada") == SUBMISSION


@pytest.mark.parametrize(
    "name", ["submission/lab.py", "submission.json", "submission/helpers/more.py"]
)
@pytest.mark.parametrize("content", [None, b"{}"])
def test_what_was_handed_in_and_altered_is_refused(
    saved: Path, name: str, content: bytes | None
) -> None:
    path = saved / "lab" / "ada" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with Results(saved, ASSIGNMENT) as results, pytest.raises(GraderError, match="grade it again"):
        results.submission("ada")


def test_the_former_grade_is_kept_beside_the_new(saved: Path) -> None:
    folder = saved / "lab" / "ada"
    first = (folder / "grade.json").read_bytes()
    with Results(saved, ASSIGNMENT) as results:
        _save(results, _grade())
        assert not (folder / "former").exists()  # nothing differs
        _save(results, _grade(earned=3.0, status="partial"), "e")
        _save(results, _grade(earned=2.0, status="partial"), "f")
    assert (folder / "former" / "1.json").read_bytes() == first
    points = [
        json.loads((folder / f"former/{n}.json").read_text("utf-8"))["points"] for n in (1, 2)
    ]
    assert points == [4.0, 3.0]
    assert json.loads((folder / "grade.json").read_text("utf-8"))["points"] == 2.0


def test_a_grade_that_went_wrong_on_our_side_replaces_no_good_one(saved: Path) -> None:
    wrong = _grade(earned=0.0, status="error", message="KeyError")
    before = (saved / "lab" / "ada" / "grade.json").read_bytes()
    with Results(saved, ASSIGNMENT) as results:
        told = _save(results, wrong, "e")
        assert told is not None
        assert "the former grade stands" in told
        assert (saved / "lab" / "ada" / "grade.json").read_bytes() == before
        assert not results.finished("ada", "e")
        assert _save(results, replace(wrong, student="ben")) is None  # there is none to stand


def test_grades_csv_is_safe_to_open_in_a_spreadsheet(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@sum", 'ada, "the" first', "ben\nnext"]
    with Results(tmp_path, ASSIGNMENT) as results:
        for name in names:
            _save(results, _grade(name.replace("/", "")))
    classlist.save(tmp_path, ASSIGNMENT)
    with (tmp_path / "lab" / "grades.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(names)
    assert all(row["points"] == "4" and row["possible"] == "4" for row in rows)
    assert all(row["runs"] == "public:ok" for row in rows)
    assert not [row for row in rows if row["student"].startswith(("=", "+", "-", "@"))]
