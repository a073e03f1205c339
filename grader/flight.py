"""Runs under way: `Flight(...).passed(submissions, most, judge)` gives grades as they are there.

Only so many submissions are in memory at a time, and the same files in the same world run once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from grader import keys
from grader.records import Assignment, Case, Grade, Run, SandboxError, Submission
from grader.variants import varied

#: Starts a submission's run in a case.
Submit = Callable[[Assignment, Case, Submission], "Future[Run]"]
#: A run that is kept from before, by case, digest of the submission and digest of its world.
Kept = Callable[[Case, str, str], Run | None]
#: Starts the judging of a submission's runs, beside the reference's in cases of the student's own.
Start = Callable[[Submission, tuple[Run, ...], tuple[Run, ...]], "Future[tuple[Grade, Any]]"]
#: The digest of each case's world, for a student.
Worlds = Callable[[str], Mapping[str, str]]
#: Starts the reference's runs in the cases that are a student's own.
Refer = Callable[[Assignment], "list[Future[Run]]"]
#: So many submissions in a row may fail for our own reasons before we give up.
_MAX_FAILED = 3


@dataclass
class _Waiting:
    """A submission, its runs by case, made or being made, and then its grade."""

    submission: Submission
    digest: str
    cases: Mapping[str, Case]
    worlds: Mapping[str, str]
    runs: dict[str, Run | Future[Run]]
    reference: list[Future[Run]]  #: in the cases that are the student's own
    graded: Future[tuple[Grade, Any]] | None = None

    def flying(self) -> list[Future[Any]]:
        """What it waits for."""
        if self.graded is not None:
            return [] if self.graded.done() else [self.graded]
        runs = [*self.runs.values(), *self.reference]
        return [run for run in runs if isinstance(run, Future) and not run.done()]


class Flight:
    """The submissions whose runs are under way; the same files in the same world run once."""

    def __init__(
        self,
        assignment: Assignment,
        worlds: Worlds,
        kept: Kept,
        submit: Submit,
        refer: Refer,
        retries: int,
    ) -> None:
        self._assignment = assignment
        self._worlds = worlds
        self._kept = kept
        self._submit = submit
        self._refer = refer
        self._retries = retries
        self._flying: dict[tuple[str, str], Future[Run]] = {}
        self._in_a_row = 0
        self.waiting: list[_Waiting] = []
        self.failed: list[str] = []  #: what could not be run for our own reasons

    def passed(
        self, submissions: Iterable[Submission], most: int, judge: Start
    ) -> Iterator[tuple[Grade, Any]]:
        """Each submission's grade as it is there, at most so many under way."""
        for submission in submissions:
            self._take_up(submission)
            while len(self.waiting) >= most:
                yield from self._landed(judge)
        while self.waiting:
            yield from self._landed(judge)

    def _take_up(self, submission: Submission) -> None:
        """Start the runs of a submission, or find them."""
        assignment = varied(self._assignment, submission.student)
        cases = {case.name: case for case in assignment.cases}
        worlds = self._worlds(submission.student)
        one = _Waiting(submission, keys.of_submission(submission), cases, worlds, {}, [])
        for name in cases:
            one.runs[name] = self._start(one, name)
        one.reference += self._refer(assignment)
        self.waiting.append(one)

    def _start(self, one: _Waiting, case: str) -> Run | Future[Run]:
        found = self._kept(one.cases[case], one.digest, one.worlds[case])
        if found is not None:
            return found
        flying = self._flying.get((one.digest, one.worlds[case]))
        if flying is None:
            flying = self._submit(self._assignment, one.cases[case], one.submission)
            self._flying[one.digest, one.worlds[case]] = flying
        return flying

    def _landed(self, judge: Start) -> Iterator[tuple[Grade, Any]]:
        """Have those judged whose runs are all there, then give each that has been."""
        flying = [run for one in self.waiting for run in one.flying()]
        if flying and all(one.flying() for one in self.waiting):
            wait(flying, return_when=FIRST_COMPLETED)
        for one in [one for one in self.waiting if not one.flying()]:
            if one.graded is not None:
                self._forget(one)
                yield one.graded.result()
            elif (runs := self._finish(one)) is not None:
                own = tuple(run.result() for run in one.reference)
                one.graded = judge(one.submission, runs, own)
            else:
                self._forget(one)

    def _forget(self, one: _Waiting) -> None:
        self.waiting.remove(one)
        for case in one.runs:
            self._flying.pop((one.digest, one.worlds[case]), None)

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
            runs.append(replace(run, submission=one.digest, world=one.worlds[name]))
        self._in_a_row = 0
        return tuple(runs)

    def _result(self, one: _Waiting, case: str, started: Run | Future[Run]) -> Run:
        if isinstance(started, Run):
            return started
        for _ in range(self._retries):
            try:
                return started.result()
            except SandboxError:
                started = self._submit(self._assignment, one.cases[case], one.submission)
        return started.result()

    def cancel(self) -> None:
        """Let nothing start that has not."""
        for one in self.waiting:
            for run in one.flying():
                run.cancel()
