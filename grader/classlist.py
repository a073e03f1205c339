"""The class as a whole: a line a student, as a page, a table and a file for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from grader import render, store
from grader.plain import clean, points
from grader.records import Assignment

Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(out: Path, assignment: Assignment, only: Collection[str] | None = None) -> list[Row]:
    """What a list of the class shows of each student who has a grade, by name."""
    return [
        _row(grade, assignment)
        for grade in grades(out, assignment)
        if only is None or grade["student"] in only
    ]


def grades(out: Path, assignment: Assignment) -> Iterator[dict[str, Any]]:
    """Every `grade.json` of the folder, one at a time."""
    for path in sorted((out / assignment.name).glob("*/grade.json")):
        yield json.loads(path.read_text("utf-8"))


def _row(grade: dict[str, Any], assignment: Assignment) -> Row:
    by_part = {
        part.name: [
            sum(check[field] for check in grade["checks"] if check["part"] == part.name)
            for field in ("earned", "points")
        ]
        for part in assignment.parts
    }
    runs = [{"case": run["case"], "status": run["status"]} for run in grade["runs"]]
    kept = {name: grade[name] for name in ("student", "points", "possible", "review", "late")}
    link = f"{quote(os.fsencode(grade['student']))}/feedback.html"
    return {**kept, "by_part": by_part, "runs": runs, "link": link}


def save(out: Path, assignment: Assignment) -> Path:
    """Write the page of the class and `grades.csv`; the page's path."""
    folder = out / assignment.name
    found = rows(out, assignment)
    page = folder / "index.html"
    store.write(page, render.page("class.html", {"assignment": assignment, "grades": found}))
    store.write(folder / "grades.csv", _csv(assignment, found))
    return page


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
