"""Due dates: how late a submission is, and what that costs.

Times are compared as instants and always have a zone. A day after the due date ends at the same
time by the clock in its zone, so that a change to or from summer time costs nobody an hour.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.records import GraderError, LateRule, Submission


def due(rule: LateRule, student: str) -> datetime:
    """When a student's work is due, with an extension where there is one."""
    return rule.extensions.get(student, rule.due)


def closes(rule: LateRule, student: str) -> datetime:
    """Up to when a submission costs nothing, to the second."""
    return due(rule, student).astimezone(UTC) + timedelta(minutes=rule.grace_minutes)


def hours(rule: LateRule, student: str, handed_in: datetime) -> float:
    """Hours after the due date, 0 where it is in time."""
    after = handed_in.astimezone(UTC) - due(rule, student).astimezone(UTC)
    return max(0.0, after.total_seconds() / 3600)


def share(rule: LateRule, student: str, handed_in: datetime) -> float:
    """Which part of the points to be had is taken off, 0 to 1.

    Within the grace nothing is; after it, each hour or day begun since the due date counts.
    """
    if handed_in.astimezone(UTC) <= closes(rule, student):
        return 0.0
    start = due(rule, student)
    begun = math.ceil(hours(rule, student, handed_in))
    if rule.per == "day":
        begun = next(
            n for n in range(max(1, begun // 25), begun + 2)
            if handed_in.astimezone(UTC) <= (start + timedelta(days=n)).astimezone(UTC)
        )  # fmt: skip
    return min(begun * rule.penalty, rule.cap) / 100


def of_submission(
    rule: LateRule | None, submission: Submission, earned: float, possible: float
) -> tuple[float | None, float]:
    """How many hours late a submission is, None where nobody knows; and the points taken off."""
    if rule is None or submission.handed_in is None:
        return None, 0.0
    after = hours(rule, submission.student, submission.handed_in)
    taken = share(rule, submission.student, submission.handed_in) * possible
    return after, min(taken, max(0.0, earned))


# Reading times ------------------------------------------------------------------------------------


def zoned(time: datetime, zone: str | None) -> datetime:
    """A time with its zone.

    Raises:
        ValueError: it has none, and none is named; or there is no such time there, or two of them.
    """
    if time.tzinfo is not None:
        return time if zone is None else time.astimezone(_zone(zone))
    if zone is None:
        raise ValueError(
            f"{time} has no zone: write it as {time.isoformat()}+01:00, or name a zone"
        )
    local = time.replace(tzinfo=_zone(zone))
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        there = local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) == time
        often = "comes twice" if there else "does not come"
        raise ValueError(f"{time} {often} in {zone}, by summer time: write it with its offset")
    return local


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no zone {name!r}; write one like Europe/Berlin") from None


def parse(text: str, zone: str | None = None) -> datetime:
    """A time as ISO 8601 has it, with its zone.

    Raises:
        ValueError: it is no such time, or has no zone.
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no time like 2026-10-01T23:59:00+02:00") from None
    return zoned(time, zone)


def with_extensions(rule: LateRule | None, path: Path) -> LateRule:
    """The rule with the extensions of a CSV file with the columns `student` and `due`.

    Raises:
        GraderError: there is no rule, or the file cannot be read; with line and mend.
    """
    if rule is None:
        raise GraderError(f"{path}: the assignment has no due date to extend; add [late] to it")
    found: dict[str, datetime] = {}
    for line, row in read_rows(path, ("student", "due")):
        if row["student"] in found:
            raise GraderError(f"{path}, line {line}: {row['student']!r} is there twice")
        found[row["student"]] = _time(path, line, row["due"], rule.zone)
    return replace(rule, extensions=found)


def _time(path: Path, line: int, text: str, zone: str | None) -> datetime:
    try:
        return parse(text, zone)
    except ValueError as problem:
        raise GraderError(f"{path}, line {line}: {problem}") from None


def read_record(path: Path, zone: str | None) -> dict[str, list[tuple[datetime, str]]]:
    """When students handed in, by a server's record: a CSV of `student`, `time` and maybe `commit`.

    Returns:
        By student the times with their commits ("" where there is none), oldest first.

    Raises:
        GraderError: it cannot be read; with line and mend.
    """
    found: dict[str, list[tuple[datetime, str]]] = {}
    for line, row in read_rows(path, ("student", "time")):
        time = _time(path, line, row["time"], zone)
        found.setdefault(row["student"], []).append((time, row.get("commit", "")))
    return {student: sorted(times) for student, times in found.items()}


def read_rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV file of ours with their lines; names of columns in any case.

    Raises:
        GraderError: it cannot be read, or lacks a column.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as problem:
        raise GraderError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise GraderError(f"{path}: not in UTF-8; save it as CSV in UTF-8") from None
    table = csv.reader(io.StringIO(text, newline=""))
    head = [name.strip().lower() for name in next(table, [])]
    for name in needed:
        if name not in head:
            raise GraderError(f"{path}: no column {name!r}; its columns are {', '.join(head)}")
    for row in table:
        if any(cell.strip() for cell in row):
            cells = [cell.strip() for cell in row] + [""] * (len(head) - len(row))
            yield table.line_num, dict(zip(head, cells, strict=False))
