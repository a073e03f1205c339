"""The class as a whole: a line a student, as a page, a table and a file for spreadsheets."""

from __future__ import annotations

import base64
import csv
import hashlib
import hmac
import io
import json
import os
import secrets
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from grader import classpage, render
from grader.files import write
from grader.plain import clean, points
from grader.records import Assignment
from grader.words import words

Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_CODES = ".codes"  #: the secret that codes are made with, for all assignments of a folder


def rows(out: Path, assignment: Assignment, only: Collection[str] | None = None) -> list[Row]:
    """What a list of the class shows of each student who has a grade, by name."""
    return [
        _row(out / assignment.name, grade, assignment)
        for grade in grades(out, assignment)
        if only is None or grade["student"] in only
    ]


def grades(out: Path, assignment: Assignment) -> Iterator[dict[str, Any]]:
    """Every `grade.json` of the folder, one at a time."""
    for path in sorted((out / assignment.name).glob("*/grade.json")):
        yield json.loads(path.read_text("utf-8"))


def _row(folder: Path, grade: dict[str, Any], assignment: Assignment) -> Row:
    by_part = {
        part.name: [
            sum(check[field] for check in grade["checks"] if check["part"] == part.name)
            for field in ("earned", "points")
        ]
        for part in assignment.parts
    }
    of_run = ("case", "status", "seconds", "memory_mb")
    kept = {name: grade[name] for name in ("student", "points", "possible", "review", "late")}
    return {
        **kept,
        "by_part": by_part,
        "runs": [{name: run[name] for name in of_run} for run in grade["runs"]],
        "mistakes": _mistakes(grade["checks"]),
        "wrong": sorted({c["name"] for c in grade["checks"] if c["status"] == "error"}),
        "before": _before(folder / grade["student"]),
        "link": f"{quote(os.fsencode(grade['student']))}/feedback.html",
    }


def _mistakes(checks: list[dict[str, Any]]) -> dict[str, str | None]:
    """The mistakes of a student by name, each with what was told of it."""
    found: dict[str, str | None] = {}
    for check in checks:
        names = check["mistake"].split(" and ") if check["mistake"] else []
        for name in names:
            told = check["diagnosis"] if len(names) == 1 else None
            found[name] = found.get(name) or (told and told.partition(" Evidence: ")[0])
    return found


def _before(folder: Path) -> list[float]:
    """The points of earlier attempts, oldest first."""
    former = sorted((folder / "former").glob("*.json"), key=lambda path: (len(path.stem), path))
    return [json.loads(path.read_text("utf-8"))["points"] for path in former]


def save(out: Path, assignment: Assignment) -> Path:
    """Write the page of the class and `grades.csv`; the page's path."""
    folder = out / assignment.name
    found = rows(out, assignment)
    page = folder / "index.html"
    write(page, _page(assignment, found))
    write(folder / "grades.csv", _csv(assignment, found))
    return page


def save_anonymous(out: Path, assignment: Assignment) -> Path:
    """Write the page of the class with codes for names, and without links; its path.

    A student has the same code in every assignment of the folder, and nobody can tell whose it is
    without the folder's secret.
    """
    secret = _secret(out)
    found = rows(out, assignment)
    coded = [
        row | {"student": code_of(row["student"], secret), "link": None, "late": None}
        for row in found
    ]
    page = out / assignment.name / "anonymous.html"
    write(page, _page(assignment, sorted(coded, key=lambda row: str(row["student"]))))
    return page


def code_of(student: str, secret: bytes) -> str:
    """A student's code, such as "K7QX-2MHF"."""
    digest = hmac.digest(secret, os.fsencode(student), hashlib.sha256)
    text = base64.b32encode(digest).decode()
    return f"{text[:4]}-{text[4:8]}"


def _secret(out: Path) -> bytes:
    path = out / _CODES
    if not path.exists():
        write(path, secrets.token_bytes(32))
        path.chmod(0o600)
    return path.read_bytes()


def _page(assignment: Assignment, found: list[Row]) -> str:
    shown = classpage.classpage(assignment, found, words(assignment))
    return render.page("class.html", shown, assignment.templates)


def _csv(assignment: Assignment, found: list[Row]) -> str:
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    parts = [part.name for part in assignment.parts]
    table.writerow(["student", "points", "possible", *parts, "runs", "review", "late"])
    for row in found:
        numbers = [row["points"], row["possible"], *(row["by_part"][name][0] for name in parts)]
        runs = " ".join(f"{run['case']}:{run['status']}" for run in row["runs"])
        review = "yes" if row["review"] else ""
        student, late = _cell(row["student"]), "" if row["late"] is None else f"{row['late']:g}"
        table.writerow([student, *map(points, numbers), runs, review, late])
    return stream.getvalue()


def _cell(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    plain = clean(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain
