"""The command as users type it: exit statuses, JSON, and sentences instead of tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from grader import __version__

DEMO = ROOT / "demo" / "pieces"


def grader(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the checkout and keep what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], Path]:
    """What `grader grade --json` printed for three sample students, and the results folder."""
    out = tmp_path_factory.mktemp("results")
    students = [DEMO / name for name in ("cleo", "ada", "dan")]
    done = grader("grade", "pieces", *students, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), out / "pieces"


def test_grade_prints_what_it_writes(graded: tuple[dict[str, object], Path]) -> None:
    printed, folder = graded
    grades = printed["grades"]
    assert isinstance(grades, list)
    assert [grade["student"] for grade in grades] == ["ada", "cleo", "dan"]
    for grade in grades:
        written = folder / grade["student"] / "grade.json"
        assert json.loads(written.read_text("utf-8")) == grade
    assert grades[0]["points"] == pytest.approx(grades[0]["possible"]) == 10
    assert grades[2]["points"] == 0


def test_grade_leaves_the_files_of_the_design(graded: tuple[dict[str, object], Path]) -> None:
    _, folder = graded
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    runs = {
        f"runs/{case}.{end}" for case in ("public", "hidden") for end in ("json", "safetensors")
    }
    handed_in = {"submission.json", "submission/pieces.py"}
    each = {"grade.json", "report.json", "feedback.html", "feedback.md", *runs, *handed_in}
    ours = {"index.html", "grades.csv", "journal.jsonl", ".lock"}
    assert found == ours | {f"{who}/{f}" for who in ("ada", "cleo", "dan") for f in each}
    assert "ada/feedback.html" in (folder / "index.html").read_text("utf-8")


def test_hidden_messages_stay_with_the_instructor(
    graded: tuple[dict[str, object], Path],
) -> None:
    _, folder = graded
    grade = json.loads((folder / "cleo" / "grade.json").read_text("utf-8"))
    hidden = [c["message"] for c in grade["checks"] if c["hidden"] and c["message"]]
    assert hidden
    for name in ("feedback.html", "feedback.md"):
        page = (folder / "cleo" / name).read_text("utf-8")
        assert not [message for message in hidden if message.splitlines()[0] in page]


def test_check_needs_no_solutions_and_writes_nothing(tmp_path: Path) -> None:
    before = sorted(DEMO.rglob("*"))
    done = grader(
        "check", "pieces", DEMO / "ada", "--json", GRADER_COURSE=str(_students_copy(tmp_path))
    )
    assert done.returncode == 0, done.stderr
    (grade,) = json.loads(done.stdout)["grades"]
    assert {check["case"] for check in grade["checks"]} == {"public"}
    assert grade["points"] == pytest.approx(grade["possible"])
    assert sorted(DEMO.rglob("*")) == before


def test_grading_without_solutions_says_so(tmp_path: Path) -> None:
    copy = _students_copy(tmp_path)
    done = grader("grade", "pieces", DEMO / "ada", "--out", tmp_path, GRADER_COURSE=str(copy))
    assert done.returncode == 2
    assert "solutions/pieces" in done.stderr


def _students_copy(folder: Path) -> Path:
    """A course folder with the students' side alone."""
    (folder / "assignments").symlink_to(ROOT / "assignments")
    return folder


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("grade", "nothing", DEMO / "ada"), "there is no lab 'nothing': the labs are"),
        (("grade", "pieces", "no/such/folder"), "no such file or folder"),
        (("grade", "pieces", DEMO / "ada", DEMO / "ada" / "pieces.py"), "are both of 'ada'"),
        (("grade", "pieces", DEMO / "ada", "--case", "moon"), "no case 'moon'; there are"),
        (("grade", "pieces", DEMO / "ada", "--bundle", "moon"), "there is no bundle 'moon'"),
        (("grade", "pieces", DEMO / "ada", "--bundle", "banking77"), "--bundle-dir"),
    ],
)
def test_callers_faults_are_one_sentence(arguments: tuple[object, ...], sentence: str) -> None:
    done = grader(*arguments, GRADER_BUNDLE_DIR="")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_labs_and_version_of_packages() -> None:
    labs = json.loads(grader("labs", "--json").stdout)["labs"]
    assert [lab["name"] for lab in labs] == sorted(
        p.parent.name for p in ROOT.glob("assignments/*/assignment.toml")
    )
    assert all((ROOT / "assignments" / lab["name"] / lab["file"]).is_file() for lab in labs)


def test_doctor_reports_protections() -> None:
    done = grader("doctor", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["grader"] == __version__
    assert found["bundles"]["tiny"] == "ready"
    assert found["tier"] == "full"
    wanted = {"reading", "seeing", "writing", "reaching", "running", "gaining"}
    assert wanted == {row["name"].split()[0] for row in found["protections"]}
    for row in found["protections"]:
        assert row["active"], row
