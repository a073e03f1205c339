"""Due dates: zones, summer time, grace, penalties and extensions, to the second."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import late
from grader.assignment import load
from grader.records import AssignmentError, GraderError, LateRule, Submission
from grader.score import total
from small_course import change, copy_course

DUE = datetime(2026, 10, 1, 23, 59, tzinfo=ZoneInfo("Europe/Berlin"))
RULE = LateRule(due=DUE, zone="Europe/Berlin", penalty=10)


@pytest.mark.parametrize(
    ("after", "hours", "share"),
    [
        (timedelta(days=-1), 0, 0),
        (timedelta(0), 0, 0),
        (timedelta(microseconds=1), 0, 0.1),
        (timedelta(seconds=1), 1 / 3600, 0.1),
        (timedelta(hours=24), 24, 0.1),
        (timedelta(hours=24, seconds=1), 24 + 1 / 3600, 0.2),
        (timedelta(days=30), 720, 1.0),
    ],
)
def test_penalty_by_day(after: timedelta, hours: float, share: float) -> None:
    time = DUE.astimezone(UTC) + after
    assert late.hours(RULE, "ada", time) == pytest.approx(hours, abs=1e-6)
    assert late.share(RULE, "ada", time) == pytest.approx(share)


@pytest.mark.parametrize(
    ("minutes", "share"), [(0, 0), (15, 0), (15.02, 0.05), (60, 0.05), (60.02, 0.1), (600, 0.2)]
)
def test_grace_and_cap_by_hour(minutes: float, share: float) -> None:
    """In the grace nothing is taken; after it, the hours since the due date count."""
    rule = replace(RULE, grace_minutes=15, penalty=5, per="hour", cap=20)
    time = DUE.astimezone(UTC) + timedelta(minutes=minutes)
    assert late.share(rule, "ada", time) == pytest.approx(share)


def test_a_day_over_the_change_of_the_clock_ends_at_the_same_time() -> None:
    """Europe's clocks go back on 25 October 2026: that day has 25 hours."""
    berlin = ZoneInfo("Europe/Berlin")
    rule = replace(RULE, due=datetime(2026, 10, 24, 23, 59, tzinfo=berlin))
    same_time = datetime(2026, 10, 25, 23, 59, tzinfo=berlin)
    assert late.hours(rule, "ada", same_time) == 25
    assert late.share(rule, "ada", same_time) == pytest.approx(0.1)
    assert late.share(rule, "ada", same_time + timedelta(seconds=1)) == pytest.approx(0.2)
    spring = replace(RULE, due=datetime(2026, 3, 28, 12, 0, tzinfo=berlin))
    noon = datetime(2026, 3, 29, 12, 0, tzinfo=berlin)
    assert late.hours(spring, "ada", noon) == 23
    assert late.share(spring, "ada", noon + timedelta(seconds=1)) == pytest.approx(0.2)


def test_an_offset_has_days_of_24_hours() -> None:
    rule = replace(RULE, due=datetime(2026, 10, 24, 21, 59, tzinfo=UTC), zone=None)
    assert late.share(rule, "ada", rule.due + timedelta(hours=25)) == pytest.approx(0.2)


@given(st.integers(-200_000, 40 * 86_400), st.integers(-12 * 60, 12 * 60))
def test_the_zone_of_a_time_does_not_matter(seconds: int, offset: int) -> None:
    time = DUE.astimezone(UTC) + timedelta(seconds=seconds)
    elsewhere = time.astimezone(timezone(timedelta(minutes=offset)))
    assert late.share(RULE, "ada", time) == late.share(RULE, "ada", elsewhere)
    wall = [DUE + timedelta(days=n) for n in range(60)]
    begun = sum(time > each.astimezone(UTC) for each in wall)
    assert late.share(RULE, "ada", time) == pytest.approx(min(begun * 0.1, 1))


@pytest.mark.parametrize(
    ("text", "zone", "sentence"),
    [
        ("2026-10-01T23:59", None, "has no zone"),
        ("2026-10-25T02:30", "Europe/Berlin", "comes twice in Europe/Berlin"),
        ("2026-03-29T02:30", "Europe/Berlin", "does not come in Europe/Berlin"),
        ("tomorrow", None, "is no time like 2026-10-01T23:59:00+02:00"),
        ("2026-10-01T23:59", "Europe/Nowhere", "there is no zone 'Europe/Nowhere'"),
        ("2026-10-01T23:59", "../etc/passwd", "there is no zone"),
    ],
)
def test_times_that_are_not_clear_are_refused(text: str, zone: str | None, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        late.parse(text, zone)


def test_times_that_are_clear() -> None:
    assert late.parse("2026-10-01T23:59:00Z") == datetime(2026, 10, 1, 23, 59, tzinfo=UTC)
    assert late.parse("2026-10-01 23:59", "Europe/Berlin") == DUE
    assert late.parse("2026-10-25T02:30+01:00", "Europe/Berlin").utcoffset() == timedelta(hours=1)


# In files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "due"),
    [
        ("due = 2026-10-01T23:59:00+02:00", DUE),
        ('due = 2026-10-01T23:59:00\nzone = "Europe/Berlin"', DUE),
        ('due = 2026-10-01T21:59:00Z\nzone = "Europe/Berlin"', DUE),
    ],
)
def test_rule_in_the_assignment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, due: datetime
) -> None:
    course = copy_course(tmp_path)
    monkeypatch.setenv("GRADER_COURSE", str(course))
    toml = course / "assignments" / "means" / "assignment.toml"
    toml.write_text(
        f"{toml.read_text('utf-8')}\n[late]\n{lines}\npenalty = 10\ncap = 50\n", "utf-8"
    )
    rule = load("means").late
    assert rule is not None
    assert rule.due == due
    assert (rule.penalty, rule.cap, rule.per, rule.attempts) == (10, 50, "day", "last")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("due = 2026-10-01T23:59:00", "late.due: 2026-10-01 23:59:00 has no zone: write it as"),
        ('due = 2026-10-25T02:30:00\nzone = "Europe/Berlin"', "comes twice in Europe/Berlin"),
        ('due = "tomorrow"', "late.due = 'tomorrow'"),
        ("penalty = 10", "late.due: this field is missing"),
        ("due = 2026-10-01T23:59:00Z\npenalty = 200", "late.penalty = 200"),
        ('due = 2026-10-01T23:59:00Z\nper = "week"', "late.per = 'week'"),
        ("due = 2026-10-01T23:59:00Z\nfree_days = 3", "late.free_days: there is no such field"),
    ],
)
def test_rules_that_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, sentence: str
) -> None:
    course = copy_course(tmp_path)
    monkeypatch.setenv("GRADER_COURSE", str(course))
    toml = course / "assignments" / "means" / "assignment.toml"
    toml.write_text(f"{toml.read_text('utf-8')}\n[late]\n{lines}\n", "utf-8")
    with pytest.raises(AssignmentError) as caught:
        load("means")
    assert sentence in str(caught.value)
    assert "assignment.toml" in str(caught.value)
    change(toml, "\n[late]\n", "\n# ")


def test_extensions(tmp_path: Path) -> None:
    path = tmp_path / "extensions.csv"
    path.write_text("\ufeffStudent,Due\nada,2026-10-05T23:59\n李 小龙,2026-10-04T20:00Z\n", "utf-8")
    rule = late.with_extensions(RULE, path)
    time = DUE.astimezone(UTC) + timedelta(days=4)
    assert late.share(rule, "ada", time) == 0
    assert late.share(rule, "ben", time) == pytest.approx(0.4)
    assert late.hours(rule, "李 小龙", time) == pytest.approx(26 - 1 / 60, abs=0.1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("student,due\nada,2026-10-25T02:30\n", "line 2: .* comes twice"),
        ("student,due\nada,soon\n", "line 2: 'soon' is no time"),
        (
            "student,due\nada,2026-10-05T23:59\nada,2026-10-06T23:59\n",
            "line 3: 'ada' is there twice",
        ),
        ("name,due\nada,2026-10-05T23:59\n", "no column 'student'; its columns are name, due"),
        ("", "no column 'student'"),
    ],
)
def test_extensions_that_are_wrong(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "extensions.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(GraderError, match=sentence):
        late.with_extensions(RULE, path)
    with pytest.raises(GraderError, match="no due date to extend"):
        late.with_extensions(None, path)
    with pytest.raises(GraderError, match="No such file"):
        late.with_extensions(RULE, tmp_path / "nowhere.csv")


def test_grade_carries_both_numbers() -> None:
    """Without checks nothing is earned; with a penalty the points never fall below 0."""
    lab = replace(load("pieces"), late=RULE)
    two_days = DUE.astimezone(UTC) + timedelta(hours=30)
    assert late.of_submission(RULE, _at(two_days), 8.0, 10.0) == (
        pytest.approx(30),
        pytest.approx(2),
    )
    assert late.of_submission(RULE, _at(two_days), 1.5, 10.0)[1] == 1.5
    assert late.of_submission(RULE, _at(None), 8.0, 10.0) == (None, 0.0)
    assert late.of_submission(None, _at(two_days), 8.0, 10.0) == (None, 0.0)
    grade = total(lab, _at(two_days), (), ())
    assert (grade.points, grade.penalty) == (0, 0)
    assert grade.late == pytest.approx(30)
    assert grade.handed_in == two_days


def _at(time: datetime | None) -> Submission:
    return Submission("ada", {}, None, handed_in=time)
