"""Tells GitHub Actions how a submission came out: `report(graded, environment, ...) -> lines`.

Annotations, a summary, outputs and a classroom's notices. Whatever a submission printed or is named
cannot be taken for a command: commands are ours and escaped, all else is between stop marks.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.ci import Classroom
from grader.export.classrooms import classroom50, encoded, github
from grader.export.graded import Graded, name, place, rounded, told
from grader.export.reports import SUMMARY_BYTES, summary

_MAX_ANNOTATIONS = 10  #: GitHub shows no more of a step
_LEVELS = {"failed": "error", "partial": "warning", "error": "warning", "not_run": "warning"}


def report(
    graded: Graded,
    environment: Mapping[str, str],
    classroom: Classroom = "none",
    folder: Path = Path(),
) -> Iterator[str]:
    """The lines of the step's log; the files that the runner names are written on the way.

    Args:
        graded: the submission.
        environment: the runner's, with `GITHUB_STEP_SUMMARY` and `GITHUB_OUTPUT`.
        classroom: whose notices and results are given.
        folder: where `result.json` goes for Classroom 50.
    """
    yield from _annotations(graded)
    grade = graded.grade
    points, possible = rounded(grade["points"]), rounded(grade["possible"])
    if classroom == "github":
        # What the classroom reads; its own reporter would make them of the output `result`.
        yield _command("notice", f"Points {points:g}/{possible:g}", title="Autograding complete")
        total = f'{{"totalPoints":{points:g},"maxPoints":{possible:g}}}'
        yield _command("notice", total, title="Autograding report")
    elif classroom == "classroom50":
        (folder / "result.json").write_text(classroom50(graded, environment), "utf-8")
    commit = environment.get("GITHUB_SHA", "")
    yield _command("notice", f"files {grade['digest']}, commit {commit}", title="Graded")
    token = secrets.token_hex(16)
    yield f"::stop-commands::{token}"
    yield from summary(graded).splitlines()
    yield f"::{token}::"
    _append(environment.get("GITHUB_STEP_SUMMARY"), summary(graded), SUMMARY_BYTES)
    outputs = {
        "result": encoded(github(graded)),
        "points": f"{points:g}",
        "possible": f"{possible:g}",
        "review": str(bool(grade["review"])).lower(),
        "digest": str(grade["digest"]),
    }
    _append(
        environment.get("GITHUB_OUTPUT"),
        "".join(f"{key}={text}\n" for key, text in outputs.items()),
    )


def _annotations(graded: Graded) -> Iterator[str]:
    """A note on the student's line for each check that lost points, the first few."""
    lost = [check for check in graded.grade["checks"] if check["status"] != "passed"]
    for check in lost[:_MAX_ANNOTATIONS]:
        file, line = place(graded, None if check["hidden"] else check["message"])
        where = {"file": file} if file else {}
        where |= {"line": str(line)} if line else {}
        yield _command(_LEVELS[check["status"]], told(check), title=name(check), **where)


def _command(command: str, message: str, **properties: str) -> str:
    """A workflow command; what is in it can neither end it nor begin another."""
    fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{command} {fields}::{_data(message)}"


def _data(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _append(path: str | None, text: str, most: int | None = None) -> None:
    """Add to a file that the runner reads, where it names one and there is room."""
    if not path:
        return
    data = text.encode("utf-8", "replace")
    there = Path(path).stat().st_size if most and Path(path).exists() else 0
    if most is None or there + len(data) <= most:
        with Path(path).open("ab") as stream:
            stream.write(data)
