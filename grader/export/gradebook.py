"""Fills one column of the instructor's own file: Canvas's gradebook or Moodle's worksheet.

Every other byte of it is kept: the file is never parsed and written again, only the cells of the
one column are replaced where they stand. Rows and students that do not match for certain are listed
and left alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.export.graded import Graded, rounded
from grader.export.sheet import Cell, as_written, read, texts
from grader.records import GraderError

#: Systems whose numbers for students are their own.
_NUMBERS = ("canvas", "moodle", "commit", "github")


@dataclass
class Filled:
    """What came of it."""

    data: bytes  #: the file with the column filled
    count: int = 0  #: cells that hold a grade now
    rows: list[str] = field(default_factory=list)  #: rows that are nobody's, or not for certain
    students: list[str] = field(default_factory=list)  #: students without a row


@dataclass(frozen=True)
class _Book:
    """Where things stand in a file of one kind."""

    rows: Sequence[Sequence[Cell]]  #: those of students
    column: int  #: the one to fill
    most: Callable[[int], str]  #: by row, what the file says can be had at most
    names: Callable[[Sequence[str]], list[tuple[str, str]]]  #: system and name, surest first
    closed: Callable[[Sequence[str]], bool] = lambda _: False  #: whether a row cannot be changed


def canvas(
    path: Path, grades: Sequence[Graded], column: str | None = None, *, scale: bool = False
) -> Filled:
    """Fill the assignment's column of Canvas's exported gradebook.

    Args:
        path: the file, as Canvas exported it.
        grades: whose grades to fill in.
        column: the column's name, with or without Canvas's number; by default the one that is named
            after the lab.
        scale: whether to give points in proportion where the column's maximum is another.

    Raises:
        GraderError: it is no such file, the column is not clear, or its maximum is another.
    """
    data, table = read(path)
    head = texts(table[0])
    if head[:2] != ["Student", "ID"]:
        raise GraderError(f"{path}: no gradebook of Canvas: its first columns are not Student, ID")
    at = _column(path, head, column or str(grades[0].grade["assignment"]), column is not None)
    top = next((n for n, row in enumerate(table) if row[0].text.strip() == "Points Possible"), 0)
    most = table[top][at].text if top and at < len(table[top]) else ""

    def names(row: Sequence[str]) -> list[tuple[str, str]]:
        cells = dict(zip(head, row, strict=False))
        return [
            ("canvas", cells.get("ID", "")),
            ("", cells.get("SIS User ID", "")),
            ("", cells.get("SIS Login ID", "")),
            ("", cells.get("Student", "")),
        ]

    book = _Book(table[top + 1 :], at, lambda _: most, names)
    return _fill(path, data, book, grades, scale=scale)


def moodle(
    path: Path, grades: Sequence[Graded], column: str | None = None, *, scale: bool = False
) -> Filled:
    """Fill the column `Grade` of Moodle's grading worksheet; the arguments are those of `canvas`.

    Raises:
        GraderError: it is no such file, or its maximum is another.
    """
    data, table = read(path)
    head = texts(table[0])
    wanted = column or "Grade"
    if "Identifier" not in head or head.count(wanted) != 1:
        raise GraderError(
            f"{path}: no worksheet of Moodle with the columns Identifier and {wanted}"
        )
    most = head.index("Maximum Grade") if "Maximum Grade" in head else None
    rows = table[1:]

    def names(row: Sequence[str]) -> list[tuple[str, str]]:
        cells = dict(zip(head, row, strict=False))
        number = re.sub(r"\D", "", cells["Identifier"])
        return [
            ("moodle", number),
            ("", cells.get("Email address", "")),
            ("", cells.get("ID number", "")),
            ("", cells.get("Full name", "")),
        ]

    def closed(row: Sequence[str]) -> bool:
        return dict(zip(head, row, strict=False)).get("Grade can be changed", "Yes") == "No"

    def maximum(row: int) -> str:
        return rows[row][most].text if most is not None and most < len(rows[row]) else ""

    book = _Book(rows, head.index(wanted), maximum, names, closed)
    return _fill(path, data, book, grades, scale=scale)


# Matching -----------------------------------------------------------------------------------------


def _fill(path: Path, data: bytes, book: _Book, grades: Sequence[Graded], *, scale: bool) -> Filled:
    owners = [_owner(book.names(texts(row)), grades) for row in book.rows]
    often = Counter(owner.student for owner in owners if owner)
    filled = Filled(data)
    taken: set[str] = set()
    changes: list[tuple[Cell, bytes]] = []
    for number, (row, owner) in enumerate(zip(book.rows, owners, strict=True)):
        held = texts(row)
        name = next((text for text in held if text.strip()), "")
        if owner is None or often[owner.student] > 1 or book.column >= len(row):
            if name:
                filled.rows.append(name)
        elif book.closed(held):
            filled.rows.append(f"{name} (its grade cannot be changed)")
            taken.add(owner.student)
        else:
            value = _value(path, owner, book.most(number), scale=scale)
            changes.append((row[book.column], as_written(data, row[book.column], value)))
            taken.add(owner.student)
    for cell, new in reversed(changes):
        filled.data = filled.data[: cell.start] + new + filled.data[cell.end :]
    filled.count = len(changes)
    filled.students = [graded.student for graded in grades if graded.student not in taken]
    return filled


def _owner(names: Sequence[tuple[str, str]], grades: Sequence[Graded]) -> Graded | None:
    """Whose row it is: the one student whom its surest name that is known to us means."""
    likely = grades
    for system, name in names:
        plain = name.strip().casefold()
        if plain:
            found = [graded for graded in likely if plain in _names(graded, system)]
            if found:
                return found[0] if len(found) == 1 else None
            likely = [graded for graded in likely if not _numbered(graded, system)]
    return None


def _names(graded: Graded, system: str) -> set[str]:
    """A student's names as a system has them; another system's numbers mean somebody else there."""
    ids: Mapping[str, str] = graded.grade["ids"]
    known = _numbered(graded, system) or [
        name for key, name in ids.items() if not any(word in key.casefold() for word in _NUMBERS)
    ]
    return {name.strip().casefold() for name in (graded.student, *known)}


def _numbered(graded: Graded, system: str) -> list[str]:
    """The numbers by which a system knows a student: its download's, or the roster's for it."""
    ids: Mapping[str, str] = graded.grade["ids"]
    return [name for key, name in ids.items() if system and system in key.casefold()]


def _value(path: Path, graded: Graded, most: str, *, scale: bool) -> str:
    """The points as the file writes numbers."""
    grade = graded.grade
    points, possible = grade["points"], grade["possible"]
    try:
        maximum = float(most.replace(",", ".")) if most.strip() else possible
    except ValueError:
        raise GraderError(f"{path}: the column takes no points: its maximum is {most!r}") from None
    if abs(maximum - possible) > 1e-6:
        if not scale:
            raise GraderError(
                f"{path}: the column's maximum is {maximum:g}, the lab gives {possible:g}: set it "
                "there, or say --scale"
            )
        points = points * maximum / possible if possible else 0.0
    text = f"{rounded(points):.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if "," in most else text


def _column(path: Path, head: Sequence[str], wanted: str, asked: bool) -> int:
    """Which column it is, by its whole name or by what stands before Canvas's number."""
    plain = wanted.strip().casefold()
    names = [(text.strip().casefold(), re.sub(r" \(\d+\)$", "", text).strip().casefold())
             for text in head]  # fmt: skip
    found = [at for at, pair in enumerate(names) if plain in pair]
    if len(found) != 1:
        there = [text for text in head if re.search(r" \(\d+\)$", text)]
        told = "more than once" if found else "not"
        mend = "" if asked else "; name one by --column"
        raise GraderError(
            f"{path}: the column {wanted!r} is {told} there{mend}; there are {', '.join(there)}"
        )
    return found[0]
