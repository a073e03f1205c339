"""Grades submissions: so many runs at a time as there are workers.

    for grade, report in grade_all(assignment, submissions, runner): ...

A run is a process of its own, and so is what checks it (see `judges`): a worker is a thread that
waits for one of them. Values that are equal, as those of right submissions are, are checked once.
"""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import bundles, checks, compared, diagnose, guarded, keys, score, store, variants
from grader.flight import Flight, Kept, Submit, Worlds
from grader.judges import Judge, Judges
from grader.known import known as make_known
from grader.known import known_in
from grader.mistakes import NONE, Mistakes, wrong
from grader.records import (
    Assignment,
    AssignmentError,
    Case,
    Check,
    Grade,
    Run,
    SandboxError,
    Submission,
    Tier,
)
from grader.runner import Runner

#: What the checks say of a submission's runs, and pytest's report of it.
Verdicts = tuple[tuple[Check, ...], dict[str, Any]]
#: Asks the checks about runs.
Asked = Callable[[tuple[Run, ...]], Verdicts]
#: What is done with a grade and pytest's report of it, where they were made.
Then = Callable[[Submission, Grade, dict[str, Any]], Any]
#: Submissions taken up at a time, for each worker: so many that no worker waits for us.
_AHEAD = 4
#: Verdicts that each judge remembers.
_REMEMBERED = 100


@dataclass(frozen=True)
class Means:
    """How runs are made."""

    workers: int | None = None  #: how many go on at once; None for one a processor
    retries: int = 1  #: how often one that failed for our own reasons is made again
    submit: Submit | None = None  #: starts them elsewhere than in this process's own pool


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_runner(
    assignment: Assignment, bundle_dir: Path | None = None, min_tier: Tier | None = None
) -> Runner:
    """A runner for the bundles that the assignment's cases name.

    Args:
        assignment: what is to be graded.
        bundle_dir: where the files of the bundle banking77 lie.
        min_tier: how strongly submissions must be confined, instead of the assignment's own.

    Raises:
        BundleError: a bundle is missing or altered.
    """
    names = sorted({case.bundle for case in assignment.cases})
    found = {name: bundles.find(name, bundle_dir) for name in names}
    for case in assignment.cases:
        _check_rows(assignment, case, found[case.bundle])
    return Runner(found, min_tier or assignment.min_tier)


def _check_rows(assignment: Assignment, case: Case, bundle: bundles.Bundle) -> None:
    """A case must not draw more rows than its bundle has."""
    for name, rows in (bundle.rows or {}).items():
        drawn = getattr(case, name)
        if drawn is not None and drawn > rows:
            raise AssignmentError(
                f"{assignment.folder / 'assignment.toml'}: cases: {case.name} draws {drawn} rows "
                f"for {name}, {bundle.name} has {rows}; give the bundle more, or another"
            )


def grade_all(
    assignment: Assignment,
    submissions: Iterable[Submission],
    runner: Runner,
    means: Means | None = None,
    kept: Kept = lambda *_: None,
    then: Then = lambda _, __, report: report,
) -> Iterator[tuple[Grade, Any]]:
    """Grade submissions, each as soon as its runs are there, in whatever order that is.

    All that can be wrong with the lab is found before this returns.

    Args:
        assignment: what they are submissions to.
        submissions: as collected; taken one by one, a few ahead of what is graded.
        runner: where they run.
        means: how runs are made.
        kept: finds a run that need not be made again.
        then: what is done with each grade in the process that made it.

    Returns:
        An iterator over each grade, with what `then` made of it: by default pytest's own report.

    Raises:
        GraderError: a fault of ours or of the assignment, after all others have been graded; never
            for what a submission does.
    """
    means = means or Means()
    count = means.workers or processors()
    same = variants.steady(assignment)  # mistakes are known in what all are asked
    expected = make_known(same, runner.bundles, runner.run_case)
    mistakes = NONE
    if same.cases:
        mistakes = wrong(same, expected, runner.bundles, runner.run_case, count)
    mistakes.differences()  # made once, for all judges, and so is the next
    mistakes.lost()
    gc.collect()
    gc.freeze()  # pytest collects garbage twice a session, over all that was ever loaded
    pool = ThreadPoolExecutor(count)
    # Checks get what runs leave of the processors, and where that is nothing, stand back for them.
    here = max(1, min(count, processors() - (count if means.submit is None else 0)))
    judging = ThreadPoolExecutor(here)
    judges = Judges(_bench(assignment, expected, mistakes, then), here)
    submit = means.submit or (lambda *run: pool.submit(runner.run_case, *run))
    worlds = worlds_by_student(assignment, runner.bundles)

    def refer(own: Assignment) -> list[Future[Run]]:
        cases = [case for case in own.cases if variants.is_varied(own, case)]
        return [pool.submit(known_in, own, case, runner.bundles, runner.run_case) for case in cases]

    flight = Flight(assignment, worlds, kept, submit, refer, means.retries)

    def graded() -> Iterator[tuple[Grade, Any]]:
        try:
            yield from flight.passed(
                submissions, _AHEAD * count, lambda *runs: judging.submit(judges.judge, *runs)
            )
        finally:
            flight.cancel()
            for threads in (pool, judging):
                threads.shutdown(wait=False, cancel_futures=True)
            judges.close()
        if flight.failed:
            raise SandboxError("; ".join(flight.failed))

    return graded()


def _bench(
    assignment: Assignment, expected: Mapping[str, Run], mistakes: Mistakes, then: Then
) -> Judge:
    """A judge whose checks are collected when it is first asked, and then stay so."""

    @functools.cache
    def checker() -> checks.Checker:
        return checks.Checker(assignment, expected).__enter__()

    found: dict[tuple[bytes, ...], Verdicts] = {}

    def asked(runs: tuple[Run, ...]) -> Verdicts:
        """The verdicts on runs, asked for once where several students' values are the same."""
        seen = tuple(map(store.seen, runs))
        if seen not in found:
            if len(found) >= _REMEMBERED:
                found.clear()
            found[seen] = verdicts(assignment, expected, runs, mistakes, checker().check)
        return found[seen]

    def judge_it(
        submission: Submission, runs: tuple[Run, ...], own: tuple[Run, ...]
    ) -> tuple[Grade, Any]:
        theirs = {**expected, **{run.case: run for run in own}}
        if own:
            with checks.Checker(assignment, theirs) as alone:
                checked, report = verdicts(assignment, theirs, runs, mistakes, alone.check)
        else:
            checked, report = asked(runs)
        checked = guarded.guard(assignment, checked, theirs, runs, submission.files)
        grade = score.total(assignment, submission, runs, checked)
        return grade, then(submission, grade, report)

    return judge_it


def worlds_of(assignment: Assignment, found: Mapping[str, bundles.Bundle]) -> dict[str, str]:
    """The digest of each case's world."""
    return {
        case.name: keys.of_world(assignment, case, found[case.bundle]) for case in assignment.cases
    }


def worlds_by_student(assignment: Assignment, found: Mapping[str, bundles.Bundle]) -> Worlds:
    """The digest of each case's world for a student, which is the same for all in most labs."""
    if assignment.secret is None:
        same = worlds_of(assignment, found)
        return lambda _: same
    return functools.cache(lambda student: worlds_of(variants.varied(assignment, student), found))


def judge(
    assignment: Assignment,
    expected: Mapping[str, Run],
    submission: Submission,
    runs: tuple[Run, ...],
    mistakes: Mistakes = NONE,
) -> tuple[Grade, dict[str, Any]]:
    """Check, diagnose and score one submission's runs against the reference's.

    Args:
        assignment: whose checks are asked.
        expected: the reference's run by case.
        submission: what was handed in.
        runs: what came of it, one for each case.
        mistakes: the known ones.
    """
    with checks.Checker(assignment, expected) as checker:
        found, report = verdicts(assignment, expected, runs, mistakes, checker.check)
    found = guarded.guard(assignment, found, expected, runs, submission.files)
    return score.total(assignment, submission, runs, found), report


def verdicts(
    assignment: Assignment,
    expected: Mapping[str, Run],
    runs: tuple[Run, ...],
    mistakes: Mistakes,
    check: Asked,
) -> Verdicts:
    """What the checks say of runs, with the mistakes behind it, and pytest's report."""
    found, report = check(runs)
    found = diagnose.diagnose(found, expected, runs, mistakes)
    return compared.compared(assignment, found, expected, runs), report
