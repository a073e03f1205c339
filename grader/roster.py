"""Who is who: a CSV that gives each student one name and all the others that systems know.

The column `student` (or `identifier`, as GitHub Classroom has it; else the first one) holds the
name that results go by; every other cell of the row is another name of the same student.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.late import read_rows
from grader.records import GraderError


@dataclass(frozen=True)
class Roster:
    """The students of a class."""

    path: Path
    rows: Mapping[str, Mapping[str, str]]  #: the other names by student, by column

    def student(self, names: set[str]) -> str | None:
        """Whose names these are, None where nobody's.

        Raises:
            GraderError: they are two students'.
        """
        wanted = {_plain(name) for name in names if name}
        found = [
            student for student, row in self.rows.items()
            if wanted & {_plain(cell) for cell in (student, *row.values()) if cell}
        ]  # fmt: skip
        if len(found) > 1:
            told = " and ".join(repr(name) for name in found)
            raise GraderError(f"{self.path}: {sorted(names)[0]!r} may be {told}; tell them apart")
        return found[0] if found else None


def read(path: Path) -> Roster:
    """Read a roster.

    Raises:
        GraderError: it cannot be read, or a student is there twice.
    """
    rows: dict[str, dict[str, str]] = {}
    for line, row in read_rows(path, ()):
        names = dict(row)
        key = next((name for name in ("student", "identifier") if name in names), next(iter(names)))
        student = names.pop(key)
        if not student:
            raise GraderError(f"{path}, line {line}: the column {key!r} is empty")
        if student in rows:
            raise GraderError(f"{path}, line {line}: {student!r} is there twice")
        rows[student] = {name: cell for name, cell in names.items() if cell}
    return Roster(path, rows)


def _plain(name: str) -> str:
    return name.strip().casefold()
