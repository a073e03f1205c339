"""The result files of Gradescope, PrairieLearn and check50, as their documentation has them."""

from __future__ import annotations

import json
from typing import Any

import grader
from grader.export.graded import Fields, Graded, head, name, rounded, told

_PRAIRIELEARN_BYTES = 1_000_000  #: it refuses more
_TEXT = 4_000  #: characters of one check's text


def gradescope(graded: Graded) -> str:
    """`/autograder/results/results.json`.

    The score is the grade's own, so that a late penalty and parts of points are in it; checks of
    hidden cases are shown as the feedback page shows them.
    """
    grade = graded.grade
    tests = [
        {
            "name": name(check),
            "number": str(number),
            "score": rounded(check["earned"]),
            "max_score": rounded(check["points"]),
            "status": "passed" if check["status"] == "passed" else "failed",
            "output": told(check)[:_TEXT],
            "output_format": "text",
            "tags": [check["part"]],
            "visibility": "visible",
            "extra_data": {"status": check["status"], "mistake": check["mistake"]},
        }
        for number, check in enumerate(grade["checks"], start=1)
    ]
    return _json(
        {
            "score": rounded(grade["points"]),
            "execution_time": round(sum(run["seconds"] for run in grade["runs"])),
            "output": head(graded),
            "output_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "extra_data": _origin(grade),
            "tests": tests,
        }
    )


def prairielearn(graded: Graded) -> str:
    """The results of an external grader."""
    grade = graded.grade
    share = grade["points"] / grade["possible"] if grade["possible"] else 0.0
    most = min(_TEXT, _PRAIRIELEARN_BYTES // 8 // max(1, len(grade["checks"])))
    tests = [
        {
            "name": name(check),
            "description": check["asked"],
            "points": rounded(check["earned"]),
            "max_points": rounded(check["points"]),
            "message": told(check)[:most],
            "output": "",
            "images": [],
        }
        for check in grade["checks"]
    ]
    return _json(
        {
            "gradable": True,
            "score": min(1.0, max(0.0, round(share, 6))),
            "message": head(graded)[:_TEXT],
            "output": "",
            "format_errors": [],
            "images": [],
            "tests": tests,
        }
    )


def check50(graded: Graded) -> str:
    """What `check50 -o json` prints; what was not graded is skipped, not wrong."""
    grade = graded.grade
    results = [
        {
            "name": name(check),
            "description": check["asked"],
            "passed": None if check["status"] in ("error", "not_run") else _passed(check),
            "log": [],
            "cause": None if _passed(check) else _cause(check),
            "data": {"points": rounded(check["points"]), "earned": rounded(check["earned"])},
            "dependency": None,
        }
        for check in grade["checks"]
    ]
    return _json({"slug": grade["assignment"], "results": results, "version": grader.__version__})


def _passed(check: Fields) -> bool:
    return bool(check["status"] == "passed")


def _cause(check: Fields) -> dict[str, Any]:
    return {"rationale": told(check)[:_TEXT], "help": check["hint"], "expected": None,
            "actual": None, "error": None}  # fmt: skip


def _origin(grade: Fields) -> dict[str, Any]:
    """Which files were graded, and by what."""
    return {
        "assignment": grade["assignment"],
        "digest": grade["digest"],
        "grader": grader.__version__,
        "penalty": rounded(grade["penalty"]),
        "review": grade["review"],
    }


def _json(content: object) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
