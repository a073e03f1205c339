"""Runs the mutants of a solution: `mutate(assignment, runner) -> Mutation`.

A mutant is run in the public case first, and in the others only while it survives. One that gives
what the solution gives, so that nothing could kill it, is named with a reason, once, in
`solutions/<lab>/equivalent.toml`:

    [[mutants]]
    line = "for batch, _ in batches(df, 16):"
    becomes = "for batch, _ in batches(df, 17):"
    reason = "The size of a batch changes no query's features."
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from grader import batch
from grader.known import known as make_known
from grader.known import reference
from grader.records import Assignment, AssignmentError, Case, GraderError, Run, Submission
from grader.runner import Runner
from grader.tomls import Strict, read_toml

if TYPE_CHECKING:  # needs libcst, which only who makes mutants has
    from grader.mutants import Mutant

#: A mutant may at first take so many times what the solution took, and so many seconds at least.
_TIMES, _LEAST = 4.0, 5.0

Ended = Literal["killed by a value", "killed by an error", "killed by time", "survived"]
_Text = Annotated[str, Field(min_length=1)]


class _Marked(Strict):
    line: _Text
    becomes: _Text
    reason: _Text


class _File(Strict):
    """What `equivalent.toml` holds."""

    mutants: list[_Marked] = Field(min_length=1)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    ended: Ended
    failed: tuple[tuple[str, str], ...]  #: (part, check) of those that killed it
    reason: str | None = None  #: why nothing could kill it, where that is said


@dataclass(frozen=True)
class Mutation:
    """The mutants of a lab, and what is wrong with the file of equivalent ones."""

    outcomes: tuple[Outcome, ...]
    checks: tuple[tuple[str, str], ...]  #: (part, check), all there are
    problems: tuple[str, ...]

    @property
    def survivors(self) -> list[Outcome]:
        """Those that no check saw and no one has explained."""
        return [one for one in self.outcomes if one.ended == "survived" and one.reason is None]

    @property
    def equivalent(self) -> list[Outcome]:
        """Those that live because they are no mistake."""
        return [one for one in self.outcomes if one.ended == "survived" and one.reason is not None]

    @property
    def counts(self) -> dict[str, int]:
        """How many ended how."""
        ends = Counter(
            "equivalent" if one in self.equivalent else one.ended for one in self.outcomes
        )
        return dict(sorted(ends.items()))

    @property
    def kill_rate(self) -> float:
        """The fraction killed of those that are mistakes, 0 to 1."""
        wrong = len(self.outcomes) - len(self.equivalent)
        return 1 - len(self.survivors) / wrong if wrong else 1.0

    @property
    def by_check(self) -> dict[tuple[str, str], tuple[int, int]]:
        """How many mutants each check kills, and how many it alone."""
        return {
            check: (
                sum(check in one.failed for one in self.outcomes),
                sum(one.failed == (check,) for one in self.outcomes),
            )
            for check in self.checks
        }


def mutate(assignment: Assignment, runner: Runner, workers: int = 2) -> Mutation:
    """Run the mutants of a lab's solution until a check sees that they are wrong.

    Args:
        assignment: the lab, with its solutions.
        runner: where they run.
        workers: how many runs go on at once.

    Raises:
        GraderError: libcst is not there.
        AssignmentError: the solution has no markers or does not run, or the file of equivalent
            mutants is wrong.
    """
    path = (assignment.solutions or Path()) / "equivalent.toml"
    made = _made(assignment)
    marked = read_toml(path, _File).mutants if path.exists() else []
    expected = make_known(assignment, runner.bundles, runner.run_case)
    reasons = {(_flat(one.line), _flat(one.becomes)): one.reason for one in marked}
    killed: dict[Mutant, Outcome] = {}
    checks: dict[tuple[str, str], None] = {}
    for case in assignment.cases:
        alone = replace(assignment, cases=(case,))
        alive = [mutant for mutant in made if mutant not in killed]
        for mutant, run in _runs(assignment, case, expected, runner, alive, workers):
            submission = _handed_in(assignment, mutant)
            grade, _ = batch.judge(alone, expected, submission, (run,))
            checks |= dict.fromkeys((check.part, check.name) for check in grade.checks)
            failed = [(c.part, c.name) for c in grade.checks if c.status != "passed"]
            if failed:
                killed[mutant] = Outcome(mutant, _ended(run), tuple(failed))
    outcomes = [
        killed.get(mutant)
        or Outcome(mutant, "survived", (), reasons.get((mutant.before, mutant.after)))
        for mutant in made
    ]
    return Mutation(tuple(outcomes), tuple(checks), tuple(_stale(path, reasons, outcomes)))


def _made(assignment: Assignment) -> list[Mutant]:
    try:
        from grader.mutants import mutants
    except ImportError:
        raise GraderError(
            "mutants need the package libcst: pip install 'torch-grader[author]'"
        ) from None
    (solution,) = reference(assignment).files.values()
    try:
        return mutants(solution.decode())
    except ValueError as problem:
        raise AssignmentError(f"{assignment.solutions}/{assignment.file}: {problem}") from None


def _runs(
    assignment: Assignment,
    case: Case,
    expected: Mapping[str, Run],
    runner: Runner,
    mutants: Sequence[Mutant],
    workers: int,
) -> Iterator[tuple[Mutant, Run]]:
    """Each mutant's run in a case."""
    seconds = min(case.seconds, max(_LEAST, _TIMES * expected[case.name].seconds))

    def run_case(mutant: Mutant) -> Run:
        """With a short wall clock, and once more with the case's own: machines may be busy."""
        submission = _handed_in(assignment, mutant)
        run = runner.run_case(assignment, replace(case, seconds=seconds), submission)
        late = run.status == "timeout" and seconds < case.seconds
        return runner.run_case(assignment, case, submission) if late else run

    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(run_case, mutant) for mutant in mutants]
        try:
            for mutant, future in zip(mutants, futures, strict=True):
                yield mutant, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _handed_in(assignment: Assignment, mutant: Mutant) -> Submission:
    return Submission("mutant", {assignment.file: mutant.source.encode()}, assignment.file)


def _ended(run: Run) -> Ended:
    if run.status == "timeout":
        return "killed by time"
    return "killed by a value" if run.status == "ok" else "killed by an error"


def _flat(text: str) -> str:
    """A line without the space around and between its words."""
    return " ".join(text.split())


def _stale(
    path: Path, reasons: Mapping[tuple[str, str], str], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    """Entries of the file that speak of no mutant, or of one that the checks do kill."""
    for line, becomes in reasons:
        ends = {
            one.ended
            for one in outcomes
            if (one.mutant.before, one.mutant.after) == (line, becomes)
        }
        entry = f"{path}: mutants: {line!r} becoming {becomes!r}"
        if not ends:
            yield f"{entry}: there is no such mutant; remove the entry"
        elif ends != {"survived"}:
            yield f"{entry}: one is {min(ends - {'survived'})}; remove the entry"
