"""A results folder: each student's grade, runs and feedback, and the page of the class."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from grader import render, store
from grader.records import Assignment, Grade


def save(out: Path, assignment: Assignment, grade: Grade, report: dict[str, Any]) -> Path:
    """Write one student's results and feedback; their folder."""
    folder = out / assignment.name / grade.student
    store.save_grade(folder, grade, report)
    shown = render.feedback(assignment, grade)
    for name in ("feedback.html", "feedback.md"):
        store.write(folder / name, render.page(name, shown))
    return folder


def save_class(out: Path, assignment: Assignment) -> Path:
    """Write the page of the class, over all grades in the folder; its path."""
    folder = out / assignment.name
    grades = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*/grade.json"))]
    for grade in grades:
        grade["link"] = f"{quote(os.fsencode(grade['student']))}/feedback.html"
        grade["by_part"] = {
            part.name: [
                sum(check[field] for check in grade["checks"] if check["part"] == part.name)
                for field in ("earned", "points")
            ]
            for part in assignment.parts
        }
    index = folder / "index.html"
    store.write(index, render.page("class.html", {"assignment": assignment, "grades": grades}))
    return index
