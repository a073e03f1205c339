"""Whose each submission is, and which of several counts: `by_student(...) -> {student: sources}`.

The last attempt before the deadline counts, or the last one where none is in time; by a rule of the
assignment's the best of all does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from grader import late, repos
from grader import roster as rosters
from grader.collect import Source
from grader.records import Assignment, GraderError
from grader.tree import Refused, Tree, listed

#: Names of files in the folder of results, where each student has a folder.
_TAKEN = {"index.html", "anonymous.html", "grades.csv", "journal.jsonl"}


@dataclass(frozen=True)
class Raw:
    """A submission as a download shows it."""

    name: str  #: whose it is, as the download has it
    where: str  #: how to call it in messages
    files: Callable[[list[str]], Tree] = lambda _: {}  #: lists it; may raise `Refused`
    ids: Mapping[str, str] = field(default_factory=dict)  #: the student's names, by system
    lone: bool = False  #: whether it is one file, which may have any name
    handed_in: datetime | None = None  #: with its zone
    attempt: int = 0  #: where no times are known, which of several it is
    repository: Path | None = None  #: where its objects lie, for a repository


@dataclass(frozen=True)
class Told:
    """What the instructor says of a class's submissions."""

    roster: Path | None = None  #: a CSV of who is who, see `roster`
    record: Path | None = None  #: a CSV of when who handed in, by a server, see `late.read_record`
    ref: str | None = None  #: the branch or tag of repositories


def by_student(
    assignment: Assignment, raws: Sequence[Raw], told: Told, remarks: list[str]
) -> dict[str, tuple[Source, ...]]:
    """The submissions that count, by student.

    Raises:
        GraderError: two are of one student and nothing tells which is the later one.
    """
    zone = assignment.late.zone if assignment.late else None
    record = late.read_record(told.record, zone) if told.record else {}
    roster = rosters.read(told.roster) if told.roster else None
    found: dict[str, list[Source]] = {}
    strangers = []
    for raw in raws:
        student, ids = _identity(raw, roster)
        if roster is not None and student not in roster.rows:
            strangers.append(student)
        names = {raw.name, student, *ids.values()}
        times = sorted(time for name in names for time in record.get(name, []))
        found.setdefault(student, []).append(_source(assignment, raw, student, ids, times, told))
    _remark(remarks, found, strangers, roster, times_matter=assignment.late is not None)
    return {student: _counting(assignment, found[student]) for student in sorted(found)}


def _identity(raw: Raw, roster: rosters.Roster | None) -> tuple[str, dict[str, str]]:
    """The name that results go by, and the others."""
    ids = {**raw.ids}
    known = roster.student({raw.name, *ids.values()}) if roster else None
    if roster is not None and known is not None:
        ids |= roster.rows[known]
    student = known or raw.name
    plain = re.sub(r"[/\x00-\x1f\x7f]", "_", student)
    plain = f"_{plain[1:]}" if plain.startswith(".") else plain
    if plain in _TAKEN or not plain or len(plain.encode("utf-8", "surrogateescape")) > 200:
        raise GraderError(f"{raw.where}: no student can be named {plain!r}; rename it")
    return plain, ids


def _source(
    assignment: Assignment,
    raw: Raw,
    student: str,
    ids: Mapping[str, str],
    times: Sequence[tuple[datetime, str]],
    told: Told,
) -> Source:
    rule = assignment.late
    closes = late.closes(rule, student) if rule else None
    if raw.repository is not None:
        return _commit(raw, student, ids, times, told, closes)
    in_time = [time for time, _ in times if closes is None or time <= closes]
    said = in_time or [time for time, _ in times]
    when = raw.handed_in or (said[-1] if said else None)
    return Source(student, raw.where, raw.files, raw.lone, ids, when, raw.attempt)


def _commit(
    raw: Raw,
    student: str,
    ids: Mapping[str, str],
    times: Sequence[tuple[datetime, str]],
    told: Told,
    closes: datetime | None,
) -> Source:
    """The commit that counts: by the server's record where there is one, else by its own date."""
    folder = raw.repository or Path()
    said = [(time, commit) for time, commit in times if commit]
    in_time = [pair for pair in said if closes is None or pair[0] <= closes] or said
    try:
        if in_time:
            when, commit = in_time[-1]
            if not repos.holds(folder, commit):
                raise GraderError(f"{raw.where}: the commit {commit} of the record is not in it")
            note = f"graded is the commit {commit[:10]}, by the record of {when.isoformat()}"
        else:
            commit, when = repos.newest(folder, told.ref, closes)
            note = f"graded is the commit {commit[:10]}; its time is its author's own"
            when = times[-1][0] if times else when
    except Refused as refusal:
        return Source(student, raw.where, partial(_refuse, refusal), ids=ids)
    files = partial(_noted_commit, folder, commit, note)
    return Source(student, raw.where, files, ids={**ids, "commit": commit}, handed_in=when)


def _refuse(refusal: Refused, _: list[str]) -> Tree:
    raise refusal


def _noted_commit(folder: Path, commit: str, note: str, notices: list[str]) -> Tree:
    notices.append(note)
    return repos.files(folder, commit, notices)


def _remark(
    remarks: list[str],
    found: Mapping[str, Sequence[Source]],
    strangers: Sequence[str],
    roster: rosters.Roster | None,
    *,
    times_matter: bool,
) -> None:
    """Say who is not in the roster, who has handed in nothing, and whose time nobody knows."""
    if strangers:
        remarks.append(f"not in the roster: {', '.join(sorted(strangers))}")
    if absent := sorted(set(roster.rows if roster else ()) - set(found)):
        remarks.append(f"handed in nothing: {', '.join(absent)}")
    timeless = sorted(name for name, all_of in found.items() if all_of[0].handed_in is None)
    if times_matter and timeless:
        remarks.append(
            f"nobody says when {listed(timeless)} handed in, so that nothing is taken off for "
            "lateness; --record gives the times"
        )


def _counting(assignment: Assignment, sources: Sequence[Source]) -> tuple[Source, ...]:
    """The attempts of one student that count, with a notice where there are others."""
    if len(sources) == 1:
        return tuple(sources)
    rule = assignment.late
    if rule is not None and rule.attempts == "best":
        return tuple(sources)
    if all(source.handed_in for source in sources):
        ordered = sorted(sources, key=_time)
    elif len({source.attempt for source in sources}) == len(sources):
        ordered = sorted(sources, key=lambda source: source.attempt)
    else:
        raise GraderError(
            f"{sources[0].where} and {sources[1].where} are both of {sources[0].student!r}; rename "
            "one, or give their times by --record"
        )
    closes = late.closes(rule, sources[0].student) if rule else None
    in_time = [one for one in ordered if one.handed_in and closes and _time(one) <= closes]
    chosen = (in_time or ordered)[-1]
    note = f"of {len(sources)} attempts, {chosen.where} counts"
    return (replace(chosen, files=partial(_noted, chosen.files, note)),)


def _noted(files: Callable[[list[str]], Tree], note: str, notices: list[str]) -> Tree:
    notices.append(note)
    return files(notices)


def _time(source: Source) -> datetime:
    return (source.handed_in or datetime.min.replace(tzinfo=UTC)).astimezone(UTC)
