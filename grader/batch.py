"""Grades submissions: runs in a pool, checks in the calling thread.

    for grade, report in grade_all(assignment, submissions, runner): ...

A run is a process of its own that a thread of the pool only waits for; pytest is not safe in
threads, so the checks stay in the caller's. Only a few submissions are in memory at a time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader import bundles, checks, compared, diagnose, guarded, keys, score
from grader.known import known as make_known
from grader.mistakes import NONE, Mistakes, wrong
from grader.records import Assignment, Case, Grade, Run, SandboxError, Submission, Tier
from grader.runner import Runner

#: Starts a submission's run in a case.
Submit = Callable[[Assignment, Case, Submission], "Future[Run]"]
#: A run that is kept from before, by case, digest of the submission and digest of its world.
Kept = Callable[[Case, str, str], Run | None]
#: Submissions taken up at a time, for each worker: so many that no worker waits for the checks.
_AHEAD = 4
#: So many submissions in a row may fail for our own reasons before we give up.
_MAX_FAILED = 3


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
    return Runner(found, min_tier or assignment.min_tier)


def grade_all(
    assignment: Assignment,
    submissions: Iterable[Submission],
    runner: Runner,
    means: Means | None = None,
    kept: Kept = lambda *_: None,
) -> Iterator[tuple[Grade, dict[str, Any]]]:
    """Grade submissions, each as soon as its runs are there, in whatever order that is.

    Args:
        assignment: what they are submissions to.
        submissions: as collected; taken one by one, a few ahead of what is graded.
        runner: where they run.
        means: how runs are made.
        kept: finds a run that need not be made again.

    Yields:
        The grade and pytest's own report of it.

    Raises:
        GraderError: a fault of ours or of the assignment, after all others have been graded; never
            for what a submission does.
    """
    expected = make_known(assignment, runner.bundles, runner.run_case)
    worlds = worlds_of(assignment, runner.bundles)
    gc.collect()
    gc.freeze()  # pytest collects garbage twice a session, over all that was ever loaded
    means = means or Means()
    count = means.workers or processors()
    pool = ThreadPoolExecutor(max_workers=count)
    submit = means.submit or (lambda *run: pool.submit(runner.run_case, *run))
    flight = _Flight(assignment, worlds, kept, submit, means.retries)
    mistakes = wrong(assignment, expected, runner.bundles, runner.run_case, count)
    try:
        for submission in flight.passed(submissions, _AHEAD * count):
            yield judge(assignment, expected, *submission, mistakes)
    finally:
        flight.cancel()
        pool.shutdown(wait=False, cancel_futures=True)
    if flight.failed:
        raise SandboxError("; ".join(flight.failed))


def worlds_of(assignment: Assignment, found: Mapping[str, bundles.Bundle]) -> dict[str, str]:
    """The digest of each case's world."""
    return {
        case.name: keys.of_world(assignment, case, found[case.bundle]) for case in assignment.cases
    }


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
    found = compared.compared(assignment, found, expected, runs)
    found = guarded.guard(assignment, found, expected, runs, submission.files)
    return score.total(assignment, submission, runs, found), report


@dataclass
class _Waiting:
    """A submission and its runs by case, made or being made."""

    submission: Submission
    digest: str
    runs: dict[str, Run | Future[Run]]

    def flying(self) -> list[Future[Run]]:
        """Those that have not ended."""
        return [run for run in self.runs.values() if isinstance(run, Future) and not run.done()]

    def landed(self) -> bool:
        """Whether all have ended."""
        return not self.flying()


class _Flight:
    """The submissions whose runs are under way; the same files in the same world run once."""

    def __init__(
        self,
        assignment: Assignment,
        worlds: Mapping[str, str],
        kept: Kept,
        submit: Submit,
        retries: int,
    ) -> None:
        self._assignment = assignment
        self._worlds = worlds
        self._kept = kept
        self._submit = submit
        self._retries = retries
        self._cases = {case.name: case for case in assignment.cases}
        self._flying: dict[tuple[str, str], Future[Run]] = {}
        self._in_a_row = 0
        self.waiting: list[_Waiting] = []
        self.failed: list[str] = []  #: what could not be run for our own reasons

    def passed(
        self, submissions: Iterable[Submission], most: int
    ) -> Iterator[tuple[Submission, tuple[Run, ...]]]:
        """Each submission with its runs as they are there, at most so many under way."""
        for submission in submissions:
            self._take_up(submission)
            while len(self.waiting) >= most:
                yield from self._landed()
        while self.waiting:
            yield from self._landed()

    def _take_up(self, submission: Submission) -> None:
        """Start the runs of a submission, or find them."""
        digest = keys.of_submission(submission)
        runs = {name: self._start(submission, digest, name) for name in self._cases}
        self.waiting.append(_Waiting(submission, digest, runs))

    def _start(self, submission: Submission, digest: str, case: str) -> Run | Future[Run]:
        found = self._kept(self._cases[case], digest, self._worlds[case])
        if found is not None:
            return found
        flying = self._flying.get((digest, case))
        if flying is None:
            flying = self._submit(self._assignment, self._cases[case], submission)
            self._flying[digest, case] = flying
        return flying

    def _landed(self) -> Iterator[tuple[Submission, tuple[Run, ...]]]:
        """Wait until some submission has all of its runs, then give each that has."""
        while not (ready := [one for one in self.waiting if one.landed()]):
            flying = {run for one in self.waiting for run in one.flying()}
            wait(flying, return_when=FIRST_COMPLETED)
        for one in ready:
            self.waiting.remove(one)
            finished = self._finish(one)
            if finished is not None:
                yield one.submission, finished
            for case in one.runs:
                self._flying.pop((one.digest, case), None)

    def _finish(self, one: _Waiting) -> tuple[Run, ...] | None:
        """The runs of a submission, or None where one of them failed for our own reasons."""
        runs = []
        for name, started in one.runs.items():
            try:
                run = self._result(one, name, started)
            except SandboxError as problem:
                self.failed.append(f"{one.submission.student} could not be run: {problem}")
                self._in_a_row += 1
                if self._in_a_row >= _MAX_FAILED:
                    raise
                return None
            runs.append(replace(run, submission=one.digest, world=self._worlds[name]))
        self._in_a_row = 0
        return tuple(runs)

    def _result(self, one: _Waiting, case: str, started: Run | Future[Run]) -> Run:
        if isinstance(started, Run):
            return started
        for _ in range(self._retries):
            try:
                return started.result()
            except SandboxError:
                started = self._submit(self._assignment, self._cases[case], one.submission)
        return started.result()

    def cancel(self) -> None:
        """Let nothing start that has not."""
        for one in self.waiting:
            for run in one.flying():
                run.cancel()
