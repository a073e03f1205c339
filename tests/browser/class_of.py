"""Makes the results of a class out of the golden grade, with no run."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import classlist, store
from grader.assignment import load
from grader.pages import stored
from grader.records import Check, Grade, Run, Submission
from grader.results import Results

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cleo"
#: Runs wherever markup, an attribute or a script is taken for one.
PAYLOAD = (
    "<b>payload</b> \"'><img src=x onerror=window.ran=1><script>window.ran=1</script>"
    "</pre></style></title><svg onload=window.ran=1><a href='javascript:window.ran=1'>x</a>"
)
_MISTAKES = ("mean_over_pads", "not_reseeded", "off_by_one", "percent", None)


def hostile_class(out: Path, size: int) -> Path:
    """Save a class whose students put the payload wherever they may; the assignment's folder."""
    assignment = load("layers")
    golden = stored(GOLDEN)
    source = f"def views(df):\n    {PAYLOAD}\n".encode()
    with Results(out, assignment) as results:
        for number in range(size):
            name = f"s{number:04} {PAYLOAD}".replace("/", "")[:150]
            grade = replace(golden, student=name, review=number % 5 == 1)
            grade = _poisoned(_varied(grade, random.Random(number)))
            submission = Submission(name, {"layers.py": source}, "layers.py")
            results.save(submission, grade, {}, "", [])
            if number % 4 == 0:  # a second attempt
                results.save(submission, replace(grade, points=1.0), {}, "", [])
    return classlist.save(out, assignment).parent


def many_grades(out: Path, size: int) -> None:
    """Save the grades of a class of any size, without their pages."""
    golden = stored(GOLDEN)
    for number in range(size):
        folder = out / "layers" / f"s{number:04}"
        (folder / "former").mkdir(parents=True)
        grade = replace(golden, student=folder.name, review=number % 50 == 1)
        grade = _varied(grade, random.Random(number))
        store.save_grade(folder, grade, {})
        if number % 4 == 0:
            (folder / "former" / "1.json").write_text('{"points": 1.5}', "utf-8")


def _varied(grade: Grade, draw: random.Random) -> Grade:
    """Other points, mistakes and costs."""
    mistake = draw.choice(_MISTAKES)
    right = draw.random()
    checks = tuple(_check(check, mistake, right, draw) for check in grade.checks)
    status: Any = draw.choice(["ok", "ok", "ok", "timeout", "error"])
    runs = tuple(
        replace(run, seconds=draw.uniform(1, 60), memory_mb=draw.uniform(60, 400), status=status)
        for run in grade.runs
    )
    return replace(grade, points=sum(check.earned for check in checks), checks=checks, runs=runs)


def _check(check: Check, mistake: str | None, right: float, draw: random.Random) -> Check:
    if draw.random() < right:
        return replace(check, earned=check.points, status="passed", message=None, mistake=None)
    named = mistake if check.mistake else None
    return replace(check, mistake=named, diagnosis=check.diagnosis if named else None)


def _poisoned(grade: Grade) -> Grade:
    checks = tuple(
        replace(
            check,
            message=check.message and f"{PAYLOAD}\n  layers.py, line 2, in x: {PAYLOAD}",
            compared=tuple(replace(row, what=PAYLOAD, received=PAYLOAD) for row in check.compared),
        )
        for check in grade.checks
    )
    runs: list[Run] = [
        replace(run, message=PAYLOAD, output=f"{PAYLOAD}\n" * 150, errors=PAYLOAD)
        for run in grade.runs
    ]
    return replace(grade, checks=checks, runs=tuple(runs), notices=(f"set aside {PAYLOAD}",))
