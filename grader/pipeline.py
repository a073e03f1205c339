"""Grades a class into a results folder, and grades it again from what is stored there.

    for outcome in grade_class(assignment, found, results, runner): ...
    for change in regrade(assignment, results, runner, dry_run=True): ...

Nothing is done twice: a student whose files, world and checks are as before is passed over, and a
run that was made before, of these files in this world, is taken from the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader import batch, keys, variants
from grader.collect import Source, collect
from grader.known import known
from grader.records import Assignment, Grade, GraderError, SandboxError, Submission
from grader.results import Results
from grader.runner import Runner


@dataclass(frozen=True)
class Outcome:
    """How one student of a class came out."""

    student: str
    points: float
    possible: float
    statuses: tuple[str, ...]  #: of the runs, by case
    seconds: float  #: wall clock of the runs
    again: bool  #: False where nothing had changed and nothing was done


@dataclass(frozen=True)
class Change:
    """A student's grade before and after."""

    student: str
    before: float
    after: float
    checks: tuple[str, ...]  #: what changed, a line a check


def grade_class(
    assignment: Assignment,
    found: Mapping[str, Sequence[Source]],
    results: Results,
    runner: Runner,
    means: batch.Means | None = None,
    *,
    fresh: bool = False,
) -> Iterator[Outcome]:
    """Grade a class, each student written as soon as graded.

    All that can be wrong with the lab is found before this returns.

    Args:
        assignment: what is graded.
        found: where each student's submission lies; of several attempts the best one counts.
        results: the folder, held.
        runner: where submissions run.
        means: how runs are made.
        fresh: run everything again, whatever is stored.

    Raises:
        GraderError: a fault of ours or of the caller's, after all others have been graded.
    """
    same = variants.steady(assignment)
    checks = keys.of_checks(assignment, known(same, runner.bundles, runner.run_case))
    worlds = batch.worlds_by_student(assignment, runner.bundles)
    problems: list[str] = []
    unchanged: list[Outcome] = []
    several: dict[str, _Taken] = {}

    def wanted() -> Iterator[Submission]:
        for student, sources in found.items():
            try:
                submissions = _attempts(assignment, student, sources)
            except GraderError as problem:
                problems.append(str(problem))
                continue
            theirs = worlds(student)
            digest = "+".join(keys.of_grade(one, theirs, checks) for one in submissions)
            entry = None if fresh else results.finished(student, digest)
            if entry is not None:
                unchanged.append(_unchanged(entry))
                continue
            if len(sources) > 1:
                several[student] = _Taken(submissions, digest, [])
            yield from submissions

    def save(submission: Submission, grade: Grade, report: dict[str, Any]) -> dict[str, Any] | str:
        if len(found[submission.student]) > 1:  # the best is saved when all are there
            return report
        digest = keys.of_grade(submission, worlds(submission.student), checks)
        return results.write(submission, grade, report, digest, grade.runs)

    kept = (lambda *_: None) if fresh else results.kept
    graded = batch.grade_all(assignment, wanted(), runner, means, kept, save)
    return _outcomes(_best(graded, several, results), results, unchanged, problems)


def _outcomes(
    saved: Iterator[tuple[Grade, dict[str, Any] | str]],
    results: Results,
    unchanged: list[Outcome],
    problems: list[str],
) -> Iterator[Outcome]:
    """Each grade as it is made and told in the journal, and who was passed over meanwhile."""
    for grade, entry in saved:
        if isinstance(entry, str):
            problems.append(entry)
        else:
            results.tell(entry)
        while unchanged:
            yield unchanged.pop()
        yield _outcome(grade)
    yield from unchanged
    if problems:
        raise GraderError("; ".join(problems))


def _best(
    graded: Iterator[tuple[Grade, dict[str, Any] | str]],
    several: Mapping[str, _Taken],
    results: Results,
) -> Iterator[tuple[Grade, dict[str, Any] | str]]:
    """One grade a student with its journal's entry: of several attempts the best, saved here."""
    for grade, made in graded:
        taken = several.get(grade.student)
        if taken is None:
            yield grade, made
        elif taken.complete(grade, made):
            submission, best, report = taken.best()
            yield best, results.write(submission, best, report, taken.digest, best.runs)


@dataclass(frozen=True)
class _Taken:
    """A student's attempts while they are graded."""

    submissions: Sequence[Submission]
    digest: str
    graded: list[tuple[Grade, Any]]

    def complete(self, grade: Grade, report: object) -> bool:
        """Take one more; whether all are there."""
        self.graded.append((grade, report))
        return len(self.graded) == len(self.submissions)

    def best(self) -> tuple[Submission, Grade, Any]:
        """The attempt with the most points, the earliest of those with as many."""
        by_time = sorted(self.graded, key=lambda one: str(one[0].handed_in))
        grade, report = max(by_time, key=lambda one: one[0].points)
        for submission in self.submissions:
            same = keys.of_submission(submission), submission.handed_in
            if same == (grade.digest, grade.handed_in):
                return submission, grade, report
        raise SandboxError(f"{grade.student}: graded was what was not handed in")


def _attempts(assignment: Assignment, student: str, sources: Sequence[Source]) -> list[Submission]:
    """A student's submissions, each told where others count as well."""
    found = [replace(collect(assignment, source), student=student) for source in sources]
    if len(found) == 1:
        return found
    note = f"the best of {len(found)} attempts counts"
    return [replace(one, notices=(note, *one.notices)) for one in found]


def _unchanged(entry: Mapping[str, Any]) -> Outcome:
    statuses = tuple(entry["runs"].values())
    return Outcome(entry["student"], entry["points"], entry["possible"], statuses, 0.0, again=False)


def _outcome(grade: Grade) -> Outcome:
    statuses = tuple(run.status for run in grade.runs)
    seconds = sum(run.seconds for run in grade.runs)
    return Outcome(grade.student, grade.points, grade.possible, statuses, seconds, again=True)


def regrade(
    assignment: Assignment,
    results: Results,
    runner: Runner,
    *,
    to_run: Callable[[str, int], None],
    agree: Callable[[list[Change]], bool],
) -> list[str]:
    """Grade from the stored runs; a run is made only where its case or its probes have changed.

    Args:
        assignment: as it is now.
        results: the folder, held.
        runner: where runs are made that must be made again.
        to_run: told, before anything runs, of each case with runs to make, and how many.
        agree: shown every change before anything is written; whether to write.

    Returns:
        Why the former grade of a student stands, a sentence each.
    """
    same = variants.steady(assignment)
    checks = keys.of_checks(assignment, known(same, runner.bundles, runner.run_case))
    worlds = batch.worlds_by_student(assignment, runner.bundles)
    students = results.students()
    for case in assignment.cases:
        stale = sum(not results.has_run(one, worlds(one)[case.name]) for one in students)
        if stale:
            to_run(case.name, stale)
    submissions = (results.submission(student) for student in students)
    graded, changes = [], []
    for grade, report in batch.grade_all(assignment, submissions, runner, None, results.stored):
        held = [(run, results.holds(grade.student, run)) for run in grade.runs]
        light = tuple(replace(run, values={}) if stored else run for run, stored in held)
        made = [run for run, stored in held if not stored]
        graded.append((replace(grade, runs=light), report, made))
        former = results.former(grade.student)
        if former and (change := _change(former, grade)):
            changes.append(change)
    if not agree(sorted(changes, key=lambda change: change.student)):
        return []
    problems = []
    for grade, report, made in sorted(graded, key=lambda one: one[0].student):
        submission = results.submission(grade.student)
        digest = keys.of_grade(submission, worlds(grade.student), checks)
        if problem := results.save(submission, grade, report, digest, made):
            problems.append(problem)
    return problems


def _change(former: Mapping[str, Any], grade: Grade) -> Change | None:
    """What differs in points earned, by check; None where nothing does."""
    before = {(c["name"], c["case"]): (c["earned"], c["points"]) for c in former["checks"]}
    after = {(c.name, c.case): (c.earned, c.points) for c in grade.checks}
    lines = []
    for name, case in dict.fromkeys([*before, *after]):
        old, new = before.get((name, case)), after.get((name, case))
        if (old or (0.0,))[0] != (new or (0.0,))[0]:
            lines.append(f"{name} ({case}): {_of(old)} -> {_of(new)}")
    if not lines and abs(former["points"] - grade.points) < 1e-9:
        return None
    return Change(grade.student, former["points"], grade.points, tuple(lines))


def told(change: Change) -> str:
    """A change as lines to read: the points, then each check's."""
    head = f"{change.student}: {change.before:.4g} -> {change.after:.4g}"
    return "\n".join([head, *(f"  {line}" for line in change.checks)])


def _of(pair: tuple[float, float] | None) -> str:
    return f"{pair[0]:.4g} of {pair[1]:.4g}" if pair else "not asked"
