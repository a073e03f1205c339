"""The tools side by side: each grades a class of the lab `pieces` and says what that took."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from classes import LAB
from measure import measure

from grader import bundles, store
from grader.assignment import load
from grader.home import home
from grader.known import expected_path

HERE = Path(__file__).resolve().parent / "peers"
ROOT = HERE.parents[1]
QUESTIONS = ("words", "pieces", "whole", "n_words", "n_pieces")
CASE = "public"


@dataclass(frozen=True)
class Outcome:
    """What a tool took for a class, and what it gave."""

    cold: float  #: from the start to the end of the first submission, seconds
    steady: float  #: wall time a submission of the others, seconds
    cpu: float  #: processor time of everything, seconds
    peak_mb: float  #: most memory of its processes at a time
    full: dict[str, bool]  #: who got full marks, by student
    compute: float = 0.0  #: processor time a submission of the scripts themselves, seconds
    workers: int = 1  #: submissions at a time


def world(place: Path) -> dict[str, str]:
    """Lay out the course modules bound to the public case, and the questions with their answers.

    Returns:
        The environment variables with which a script finds them.
    """
    assignment = load(LAB)
    case = next(case for case in assignment.cases if case.name == CASE)
    course = shutil.copytree(assignment.course, place / "course")
    rows = {"train": case.train, "val": case.val, "test": case.test}
    with (course / "course_bundle.py").open("a", encoding="utf-8") as module:
        module.write(f"\n\nuse({rows}, {case.seed})\n")
    shutil.copy(assignment.folder / "probes.py", course)
    shutil.copy(HERE / "questions.py", course)
    values = store.load_run(expected_path(assignment, case)).values
    expected = {question: values[question] for question in QUESTIONS}
    (course / "expected.json").write_text(json.dumps(expected), "utf-8")
    bundle = bundles.find(case.bundle).folder
    return {"PYTHONPATH": str(course), "COURSE_BUNDLE": str(bundle)}


def harness(students: Path, place: Path, *options: str, workers: int = 1) -> Outcome:
    """`grader grade pieces FOLDER`."""
    out = place / "results"
    words = ["grade", LAB, str(students), "--out", str(out), *options, "--workers", str(workers)]
    spent = measure([sys.executable, "-m", "grader", *words], ROOT)
    grades = {path.parent.name: path for path in out.glob(f"{LAB}/*/grade.json")}
    _complete(students, grades, spent.output)
    first = min(path.stat().st_mtime for path in grades.values()) - spent.start
    read = {name: json.loads(path.read_text("utf-8")) for name, path in grades.items()}
    runs = [json.loads(path.read_text("utf-8")) for path in out.glob(f"{LAB}/*/runs/*.json")]
    return Outcome(
        cold=first,
        steady=_steady(spent.wall, first, len(grades)),
        cpu=spent.cpu,
        peak_mb=spent.peak_mb,
        full={n: math.isclose(g["points"], g["possible"]) for n, g in read.items()},  # not rounded
        compute=sum(run["cpu_seconds"] for run in runs) / len(grades),
        workers=workers,
    )


def one_by_one(
    students: Path, grade: Callable[[Path], tuple[float, float, float, bool]]
) -> Outcome:
    """A tool that is started for each script.

    Args:
        students: the class.
        grade: grades a script; its wall and processor time, peak memory, and whether it was full.
    """
    rows = {path.name: grade(path / f"{LAB}.py") for path in sorted(students.iterdir())}
    walls, cpus, peaks, full = zip(*rows.values(), strict=True)
    steady = statistics.mean(walls[1:] or walls)
    return Outcome(walls[0], steady, sum(cpus), max(peaks), dict(zip(rows, full, strict=True)))


def pytest(students: Path, place: Path) -> Outcome:
    """`pytest test_pieces.py`, in the harness's own environment."""
    shutil.copy(HERE / "test_pieces.py", place)
    environment = world(place)
    command = [sys.executable, "-m", "pytest", "-q", "test_pieces.py"]

    def grade(script: Path) -> tuple[float, float, float, bool]:
        spent = measure(command, place, SUBMISSION=str(script), **environment)
        if "passed" not in spent.output and "failed" not in spent.output:
            raise SystemExit(f"pytest did not run: {spent.output}")
        return spent.wall, spent.cpu, spent.peak_mb, f"{len(QUESTIONS)} passed" in spent.output

    return one_by_one(students, grade)


def otter(students: Path, place: Path, venv: Path) -> Outcome:
    """`otter run -a autograder.zip pieces.py`."""
    (place / "tests").mkdir()
    shutil.copy(HERE / "otter" / "pieces.py", place / "tests")
    environment = _activated(place, venv)
    command = str(venv / "bin" / "otter")
    made = measure([command, "generate", "-t", "tests", "-o", "autograder.zip"], place)
    if not (place / "autograder.zip").exists():
        raise SystemExit(f"otter generate: {made.output}")

    def grade(script: Path) -> tuple[float, float, float, bool]:
        out = place / "out" / script.parent.name
        out.mkdir(parents=True)
        words = ["run", "-a", "autograder.zip", "-o", str(out), str(script)]
        spent = measure([command, *words], place, **environment)
        try:
            tests = json.loads((out / "results.json").read_text("utf-8"))["tests"]
        except OSError:
            raise SystemExit(f"otter run: {spent.output}") from None
        earned = sum(test.get("score", 0) for test in tests)
        return spent.wall, spent.cpu, spent.peak_mb, earned == len(QUESTIONS)

    return one_by_one(students, grade)


def nbgrader(students: Path, place: Path, venv: Path) -> Outcome:
    """`nbgrader autograde pieces`, once for the whole class."""
    environment = _activated(place, venv)
    script = (home() / "assignments" / LAB / f"{LAB}.py").read_text("utf-8")
    _notebook(place / "source" / LAB, script)
    for student in students.iterdir():
        text = (student / f"{LAB}.py").read_text("utf-8")
        _notebook(place / "submitted" / student.name / LAB, text)
    (place / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'course'\n", "utf-8"
    )
    command = str(venv / "bin" / "nbgrader")
    measure([command, "generate_assignment", LAB], place, **environment)
    spent = measure([command, "autograde", LAB], place, **environment)
    grades = {p.parents[1].name: p for p in place.glob(f"autograded/*/{LAB}/{LAB}.ipynb")}
    _complete(students, grades, spent.output)
    first = min(path.stat().st_mtime for path in grades.values()) - spent.start
    measure([command, "export", "--to", "grades.csv"], place, **environment)
    with (place / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    full = {row["student_id"]: float(row["score"]) == float(row["max_score"]) for row in rows}
    steady = _steady(spent.wall, first, len(grades))
    return Outcome(first, steady, spent.cpu, spent.peak_mb, full)


def _activated(place: Path, venv: Path) -> dict[str, str]:
    """The world of a peer that calls programs and kernels of its own virtual environment."""
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**world(place), "PATH": path, "JUPYTER_PREFER_ENV_PATH": "1"}


def _notebook(folder: Path, script: str) -> None:
    """A script as the one answer of a notebook, and a test cell for each question."""
    cells = [_cell("script", script, solution=True)]
    for question in QUESTIONS:
        source = f"from questions import ask\n\nask({question!r}, globals())"
        cells.append(_cell(question, source, grade=True, locked=True, points=1))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {
        "cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text(json.dumps(notebook), "utf-8")


def _cell(name: str, source: str, **marks: object) -> dict[str, object]:
    marks = {"grade": False, "solution": False, "locked": False, "task": False, **marks}
    marks |= {"grade_id": name, "schema_version": 3, "cell_type": "code"}
    return {
        "cell_type": "code", "id": name, "source": source, "metadata": {"nbgrader": marks},
        "execution_count": None, "outputs": [],
    }  # fmt: skip


def _steady(wall: float, first: float, count: int) -> float:
    """Wall time a submission after the first, with the end of the command."""
    return (wall - first) / max(count - 1, 1)


def _complete(students: Path, found: dict[str, Path], output: str) -> None:
    missing = sorted({path.name for path in students.iterdir()} - found.keys())
    if missing:
        raise SystemExit(f"{', '.join(missing)} not graded:\n{output[-4000:]}")
