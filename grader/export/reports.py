"""Reports that many tools read: JUnit XML, SARIF 2.1.0, a step summary, and a plain CSV."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import grader
from grader.export.graded import Fields, Graded, head, name, place, rounded, told
from grader.plain import clean

SUMMARY_BYTES = 1024**2  #: GitHub shows no longer summary
_CUT = "\n\n_The rest is cut off; the whole is in the feedback file._\n"
_LEVELS = {"failed": "error", "partial": "warning", "error": "note", "not_run": "note"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def junit(grades: Sequence[Graded]) -> str:
    """JUnit XML: a suite a student, a case a check; what asks for a person is an error."""
    top = ElementTree.Element("testsuites", name="grader")
    for graded in grades:
        grade = graded.grade
        statuses = [check["status"] for check in grade["checks"]]
        suite = ElementTree.SubElement(
            top,
            "testsuite",
            name=_xml(f"{grade['assignment']}.{graded.student}"),
            tests=str(len(statuses)),
            failures=str(sum(status in ("failed", "partial") for status in statuses)),
            errors=str(statuses.count("error")),
            skipped=str(statuses.count("not_run")),
            time=f"{sum(run['seconds'] for run in grade['runs']):.3f}",
            timestamp=grade["handed_in"] or datetime.now(UTC).isoformat(timespec="seconds"),
        )
        properties = ElementTree.SubElement(suite, "properties")
        for field in ("points", "possible", "penalty"):
            value = f"{rounded(grade[field]):g}"
            ElementTree.SubElement(properties, "property", name=field, value=value)
        for check in grade["checks"]:
            _case(suite, check)
        ElementTree.SubElement(suite, "system-out").text = _xml(head(graded))
    ElementTree.indent(top)
    text: str = ElementTree.tostring(top, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, check: Fields) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=_xml(check["part"]), name=_xml(name(check)), time="0"
    )
    tag = {"failed": "failure", "partial": "failure", "error": "error", "not_run": "skipped"}
    if check["status"] in tag:
        points = f"{rounded(check['earned']):g} of {rounded(check['points']):g} points"
        shown = ElementTree.SubElement(case, tag[check["status"]], message=points)
        shown.text = _xml(told(check))


def _xml(text: str) -> str:
    """Text without what XML cannot hold, which `clean` leaves: the last two of each plane."""
    return "".join(sign for sign in clean(text) if ord(sign) & 0xFFFE != 0xFFFE)


def sarif(graded: Graded) -> str:
    """SARIF 2.1.0: a rule for each check, a result for each that lost points, on its line."""
    grade = graded.grade
    results: list[dict[str, Any]] = []
    rules: dict[str, dict[str, Any]] = {}
    hidden = {check["case"] for check in grade["checks"] if check["hidden"]}
    for check in grade["checks"]:
        rules.setdefault(
            check["name"], {"id": check["name"], "shortDescription": {"text": check["asked"]}}
        )
        if check["status"] != "passed":
            where = place(graded, None if check["hidden"] else check["message"])
            level = _LEVELS[check["status"]]
            results.append(_result(check["name"], level, told(check), where))
    for run in grade["runs"]:
        if run["status"] != "ok":
            message = None if run["case"] in hidden else run["message"]
            rule = f"run-{run['status']}"
            rules.setdefault(rule, {"id": rule, "shortDescription": {"text": "how a run ended"}})
            text = clean(f"{run['case']} run: {run['status']}. {message or ''}".strip())
            results.append(_result(rule, "error", text, place(graded, message)))
    driver = {"name": "grader", "version": grader.__version__, "rules": list(rules.values())}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=1, allow_nan=False) + "\n"


def _result(
    rule: str, level: str, text: str, where: tuple[str | None, int | None]
) -> dict[str, Any]:
    file, line = where
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": quote((file or "").encode("utf-8", "replace"))}
    }
    if line:
        physical["region"] = {"startLine": line}
    locations = [{"physicalLocation": physical}] if file else []
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": locations}


def summary(graded: Graded) -> str:
    """The feedback page in Markdown, no longer than GitHub shows."""
    data = graded.feedback.encode("utf-8", "replace")
    if len(data) <= SUMMARY_BYTES:
        return data.decode()
    return data[: SUMMARY_BYTES - len(_CUT)].decode("utf-8", "ignore") + _CUT


def table(grades: Sequence[Graded]) -> str:
    """A CSV for spreadsheets: a row a student, with the points of each part."""
    parts = list(dict.fromkeys(c["part"] for graded in grades for c in graded.grade["checks"]))
    stream = io.StringIO()
    out = csv.writer(stream, lineterminator="\n")
    out.writerow(
        ["student", "points", "possible", *parts, "penalty", "hours late", "handed in", "review"]
    )
    for graded in grades:
        grade = graded.grade
        by_part = [
            sum(check["earned"] for check in grade["checks"] if check["part"] == part)
            for part in parts
        ]
        numbers = [grade["points"], grade["possible"], *by_part, grade["penalty"]]
        late = "" if grade["late"] is None else f"{grade['late']:.4g}"
        review = "yes" if grade["review"] else ""
        out.writerow(
            [cell(graded.student), *(f"{rounded(number):g}" for number in numbers), late,
             grade["handed_in"] or "", review]
        )  # fmt: skip
    return stream.getvalue()


def cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    plain = clean(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain
