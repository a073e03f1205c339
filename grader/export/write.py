"""Writes an export to where it is wanted: `write(out, format, to, remarks, ...)`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from grader.export import EACH, TABLES, Graded, gradebook, read_results
from grader.files import write as write_file
from grader.records import GraderError

BOOKS = {"canvas": gradebook.canvas, "moodle": gradebook.moodle}
FORMATS = (*EACH, *TABLES, *BOOKS)


def write(
    out: Path,
    format: str,  # noqa: A002 - what the command line calls it
    to: Path | None = None,
    remarks: list[str] | None = None,
    *,
    lab: str | None = None,
    students: Collection[str] = (),
    into: Path | None = None,
    column: str | None = None,
    scale: bool = False,
) -> bytes | None:
    """Export the grades of a results folder.

    Args:
        out: the results, of all labs or of one.
        format: one of `FORMATS`.
        to: the file to write; for a format by student and several students, the folder.
        remarks: told what was written, and who and what did not match.
        lab: which lab, where there are several.
        students: these alone.
        into: the instructor's own file that is filled in, for Canvas and Moodle.
        column: which of its columns, instead of the one named after the lab.
        scale: whether to give points in proportion where the column's maximum is another.

    Returns:
        The export itself where there is no `to`, else None.

    Raises:
        GraderError: there is no such format, lab or student, or the file does not fit.
    """
    remarks = [] if remarks is None else remarks
    if format not in FORMATS:
        raise GraderError(
            f"--format {format}: there is no such format; one of {', '.join(FORMATS)}"
        )
    if (into is not None) != (format in BOOKS):
        told = "needs --into, your own export to fill in" if into is None else "fills in no file"
        raise GraderError(f"--format {format} {told}")
    grades = read_results(out, lab, students)
    if format in EACH and (len(grades) > 1 or (to is not None and to.is_dir())):
        _each(grades, format, to, remarks)
        return None
    if format in EACH:
        data = EACH[format][1](grades[0]).encode("utf-8", "replace")
    elif format in TABLES:
        data = TABLES[format](grades).encode("utf-8", "replace")
    else:
        filled = BOOKS[format](into or Path(), grades, column, scale=scale)
        remarks += _told(filled, into or Path())
        data = filled.data
    if to is None:
        return data
    _save(to, data)
    remarks.append(f"written: {to}")
    return None


def _each(grades: Sequence[Graded], format: str, to: Path | None, remarks: list[str]) -> None:  # noqa: A002
    """A file a student."""
    if to is None:
        raise GraderError(f"--format {format} is one file a student: give a folder by --to")
    ending, made = EACH[format]
    for graded in grades:
        _save(to / f"{graded.student}{ending}", made(graded).encode("utf-8", "replace"))
    remarks.append(f"written: {len(grades)} files in {to}")


def _save(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, data)
    except OSError as problem:
        raise GraderError(f"{path}: cannot be written: {problem.strerror}") from None


def _told(filled: gradebook.Filled, into: Path) -> list[str]:
    told = [f"{into}: {filled.count} grades filled in"]
    if filled.rows:
        told.append(f"rows that match no student for certain, left alone: {'; '.join(filled.rows)}")
    if filled.students:
        told.append(f"students without a row: {'; '.join(filled.students)}")
    return told
