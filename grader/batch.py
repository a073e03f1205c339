"""Grades submissions: runs in a pool of threads, checks in the calling thread, in a fixed order.

    for grade, report in grade_all(assignment, submissions): ...

A run is a process of its own that the thread only waits for; pytest is not safe in threads, so the
checks stay in the caller's.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader import bundles, checks, diagnose, score
from grader.known import known as make_known
from grader.mistakes import NONE, Mistakes, wrong
from grader.records import Assignment, Grade, Run, Submission, Tier
from grader.runner import Runner


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
    return Runner(found, min_tier or assignment.min_tier)


def grade_all(
    assignment: Assignment,
    submissions: Sequence[Submission],
    runner: Runner,
    workers: int | None = None,
) -> Iterator[tuple[Grade, dict[str, Any]]]:
    """Grade submissions, in the order given, each as soon as it and those before it are run.

    Args:
        assignment: what they are submissions to.
        submissions: as collected.
        runner: where they run.
        workers: how many runs go on at once; by default one for each processor.

    Yields:
        The grade and pytest's own report of it.

    Raises:
        GraderError: a fault of ours or of the assignment; never for what a submission does.
    """
    expected = make_known(assignment, runner.bundles, runner.run_case)
    workers = workers or processors()
    mistakes = wrong(assignment, expected, runner.bundles, runner.run_case, workers)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [
            [pool.submit(runner.run_case, assignment, case, one) for case in assignment.cases]
            for one in submissions
        ]
        try:
            for submission, of_cases in zip(submissions, futures, strict=True):
                runs = tuple(future.result() for future in of_cases)
                yield judge(assignment, expected, submission, runs, mistakes)
        finally:
            for future in itertools.chain.from_iterable(futures):
                future.cancel()


def judge(
    assignment: Assignment,
    expected: Mapping[str, Run],
    submission: Submission,
    runs: tuple[Run, ...],
    mistakes: Mistakes = NONE,
) -> tuple[Grade, dict[str, Any]]:
    """Check, diagnose and score one submission's runs against the reference's."""
    found, report = checks.check(assignment, expected, runs)
    found = diagnose.diagnose(found, expected, runs, mistakes)
    return score.total(assignment, submission, runs, found), report
