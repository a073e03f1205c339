"""Puts grades into other tools' formats: `one(graded, format)`, `table(all_of_them, format)`.

All of them are made from what `results/<lab>/<student>/` holds, so that a grade can be exported
wherever and whenever. What goes to students leaves out what their feedback pages leave out. Numbers
are rounded here and nowhere before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.export import autograders, classrooms, reports
from grader.export.graded import Graded, read_results

__all__ = ["EACH", "TABLES", "Graded", "read_results"]

#: Formats of one student's grade, with the ending of their files.
EACH: dict[str, tuple[str, Callable[[Graded], str]]] = {
    "gradescope": (".json", autograders.gradescope),
    "github-classroom": (".json", classrooms.github),
    "classroom50": (".json", classrooms.classroom50),
    "prairielearn": (".json", autograders.prairielearn),
    "check50": (".json", autograders.check50),
    "sarif": (".sarif", reports.sarif),
    "summary": (".md", reports.summary),
}
#: Formats of a whole class in one file.
TABLES: dict[str, Callable[[Sequence[Graded]], str]] = {
    "junit": reports.junit,
    "csv": reports.table,
}
