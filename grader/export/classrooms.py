"""The results that GitHub Classroom's reporter and Classroom 50 read."""

from __future__ import annotations

import base64
import functools
import json
import math
import operator
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from grader.export.graded import Graded, name, place, rounded, told

_TEXT = 2_000  #: characters of one test's message
_TRIES = 20  #: to make doubles add up
#: What Classroom 50's runner sets, by the field that it fills.
_VARIABLES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def github(graded: Graded) -> str:
    """What a step of GitHub Classroom gives as `result`, before it is encoded.

    The reporter adds the scores up; the whole is what it may be at most, a whole number: where the
    points to be had are none, they are told in percent.
    """
    grade, unit = graded.grade, _unit(graded)
    earned = grade["points"] + grade["penalty"]
    kept = grade["points"] / earned if earned else 1.0  # of every score, where it came late
    tests = [
        {
            "name": name(check),
            "status": "pass" if check["status"] == "passed" else "fail",
            "score": rounded(check["earned"] * unit * kept),
            "message": told(check)[:_TEXT],
            "test_code": "",
            "filename": place(graded, None if check["hidden"] else check["message"])[0] or "",
            "line_no": place(graded, None if check["hidden"] else check["message"])[1] or 0,
            "duration": 0,
        }
        for check in grade["checks"]
    ]
    if grade["penalty"]:
        message = f"{rounded(grade['penalty']):g} points are taken off, of every score its part"
        tests.insert(
            0,
            {"name": "handed in late", "status": "fail", "score": 0, "message": message,
             "test_code": "", "filename": "", "line_no": 0, "duration": 0},
        )  # fmt: skip
    _settle(tests, rounded(grade["points"] * unit))
    passed = all(test["status"] == "pass" for test in tests)
    result = {
        "version": 1,
        "status": "error" if grade["review"] else "pass" if passed else "fail",
        "max_score": round(grade["possible"] * unit),
        "tests": tests,
    }
    return json.dumps(result, allow_nan=False)


def encoded(result: str) -> str:
    """A result as a step's output holds it."""
    return base64.b64encode(result.encode()).decode()


def _unit(graded: Graded) -> float:
    """1, or what makes percent of points whose sum is no whole number."""
    possible = graded.grade["possible"]
    return 1.0 if abs(possible - round(possible)) < 1e-9 else 100 / possible


def _settle(tests: Sequence[dict[str, Any]], total: float) -> None:
    """Let the scores be such that, added in order as doubles, they are the total exactly.

    The last one takes up what rounding left; where no double does, another is moved by a last bit.
    """
    for _ in range(_TRIES):
        before = functools.reduce(operator.add, (test["score"] for test in tests[:-1]), 0.0)
        rest = total - before
        for last in (rest, math.nextafter(rest, math.inf), math.nextafter(rest, -math.inf)):
            if before + last == total:
                tests[-1]["score"] = last
                return
        largest = max(tests[:-1], key=lambda test: float(test["score"]))
        largest["score"] = math.nextafter(largest["score"], math.inf)


def classroom50(graded: Graded, environment: Mapping[str, str] | None = None) -> str:
    """`result.json`, with what the runner's environment says of the submission.

    Its points are whole numbers: each is rounded so that all add up to the rounded total.
    """
    environment = os.environ if environment is None else environment
    grade, unit = graded.grade, _unit(graded)
    total = int(grade["points"] * unit + 0.5 + 1e-9)
    checks = grade["checks"]
    most = _whole([check["points"] * unit for check in checks], round(grade["possible"] * unit))
    scores = _whole([check["earned"] * unit for check in checks], total)
    tests = [
        {"test-name": name(check), "passed": check["status"] == "passed", "score": score,
         "max-score": of}
        for check, score, of in zip(checks, scores, most, strict=True)
    ]  # fmt: skip
    said = {field: environment.get(variable, "") for field, variable in _VARIABLES.items()}
    said["assignment"] = said["assignment"] or grade["assignment"]
    said["review"] = said["review"] or said["commit"]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    handed_in = grade["handed_in"] and datetime.fromisoformat(grade["handed_in"]).astimezone(UTC)
    result = {
        "schema": "classroom50/result/v1",
        **said,
        "datetime": f"{handed_in:%Y-%m-%dT%H:%M:%SZ}" if handed_in else now,
        "graded_at": now,
        "score": total,
        "max-score": round(grade["possible"] * unit),
        "tests": tests,
    }
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def _whole(numbers: Sequence[float], total: int) -> list[int]:
    """Whole numbers that add up to a total, each as near as can be; none below 0."""
    found = [int(number + 1e-9) for number in numbers]
    by_rest = sorted(range(len(found)), key=lambda at: found[at] - numbers[at])
    missing = total - sum(found)
    while missing and by_rest:
        step = 1 if missing > 0 else -1
        for at in by_rest if step > 0 else reversed(by_rest):
            if missing and found[at] + step >= 0:
                found[at] += step
                missing -= step
        if step < 0 and not any(found):
            break
    return found
