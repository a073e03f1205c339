"""Grades the grader: `verify(assignment, runner) -> Verification`, with what does not hold.

Every file whose grade is known beforehand is run and judged like a submission: the reference
(again, and with two threads), the stub, the known mistakes of `wrong/`, the other right ways of
`right/`.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from grader import batch
from grader.known import kept_run, reference
from grader.known import known as make_known
from grader.mistakes import Mistakes, wrong
from grader.records import Assignment, AssignmentError, Case, Check, Grade, Run, Submission
from grader.runner import Runner

Kind = Literal["reference", "stub", "wrong", "right"]
Expected = Mapping[str, Run]  #: the reference's run by case


@dataclass(frozen=True)
class File:
    """A file whose grade is known beforehand."""

    name: str  #: "reference", "stub", "wrong/NAME" or "right/NAME"
    kind: Kind
    submission: Submission
    loses: frozenset[str] = frozenset()  #: the parts that its docstring names, of a wrong one
    threads: int = 1  #: how many it runs with


@dataclass(frozen=True)
class Row:
    """A file with the grade that it got."""

    file: File
    grade: Grade

    @property
    def lost(self) -> frozenset[str]:
        """The parts of which it did not earn all."""
        return frozenset(check.part for check in self.grade.checks if _short(check))


@dataclass(frozen=True)
class Problem:
    """Something that does not hold."""

    where: str  #: the file, check or case
    message: str  #: what was to hold and what is


@dataclass(frozen=True)
class Verification:
    """What came of a lab."""

    lab: str
    title: str
    parts: Mapping[str, float]  #: points by part
    rows: tuple[Row, ...]
    failed_by: Mapping[tuple[str, str], tuple[str, ...]]  #: (part, check) -> wrong files
    problems: tuple[Problem, ...]
    seconds: float  #: how long it took


def verify(assignment: Assignment, runner: Runner, workers: int = 2) -> Verification:
    """Run and judge all files of a lab.

    Args:
        assignment: the lab, with its solutions.
        runner: where the files run.
        workers: how many runs go on at once.

    Raises:
        BundleError, SandboxError: a fault of ours; one of the lab's is a problem that is reported.
    """
    started = time.monotonic()
    rows: tuple[Row, ...] = ()
    problems: list[Problem] = []
    try:
        expected = make_known(assignment, runner.bundles, runner.run_case)
        mistakes = wrong(assignment, expected, runner.bundles, runner.run_case, workers)
        mistakes.differences()  # all of them are run here
        rows = tuple(_graded(assignment, expected, mistakes, runner, workers))
        problems += _copied(assignment, expected)
    except AssignmentError as problem:
        problems.append(Problem(assignment.name, str(problem)))
    failed_by = _failed_by(rows)
    problems += [problem for row in rows for problem in _examine(assignment, row)]
    problems += [
        Problem(f"check {check}", f"no wrong file fails it (part {part}): add one that does")
        for (part, check), names in failed_by.items()
        if not names
    ]
    return Verification(
        lab=assignment.name,
        title=assignment.title,
        parts={part.name: part.points for part in assignment.parts},
        rows=rows,
        failed_by=failed_by,
        problems=tuple(problems),
        seconds=time.monotonic() - started,
    )


def files(assignment: Assignment) -> Iterator[File]:
    """The files of a lab, in the order of the matrix.

    All are parsed here, before any thread is started: Python 3.11 cannot parse in two at once.
    """
    solution = reference(assignment)
    yield File("reference", "reference", solution)
    yield File("reference, 2 threads", "reference", solution, threads=2)
    yield File("stub", "stub", _handed_in(assignment, assignment.folder / assignment.file))
    kinds: tuple[Kind, Kind] = ("wrong", "right")
    for kind in kinds:
        for path in sorted((assignment.solutions or Path()).joinpath(kind).glob("*.py")):
            loses = _loses(path) if kind == "wrong" else frozenset[str]()
            yield File(f"{kind}/{path.stem}", kind, _handed_in(assignment, path), loses)


def _handed_in(assignment: Assignment, path: Path) -> Submission:
    """A file as if it had been handed in under the name that the assignment asks for."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise AssignmentError(f"{path}: {problem.strerror}") from None
    return Submission(path.stem, {assignment.file: content}, assignment.file)


def _loses(path: Path) -> frozenset[str]:
    """The parts after `Loses:` in a wrong file's docstring, none where there is no such line."""
    try:
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    except (SyntaxError, ValueError) as problem:
        raise AssignmentError(f"{path}: it cannot be read: {problem}") from None
    lines = [line for line in docstring.splitlines() if line.startswith("Loses:")]
    named = ",".join(line.removeprefix("Loses:") for line in lines).split(",")
    return frozenset(part.strip() for part in named if part.strip())


def _graded(
    assignment: Assignment, expected: Expected, mistakes: Mistakes, runner: Runner, workers: int
) -> Iterator[Row]:
    """Each file with its grade: runs in threads, checks here, since pytest is not safe in them."""

    def run(file: File, case: Case) -> Run:
        if file.kind == "wrong":
            return kept_run(assignment, case, runner.bundles, runner.run_case, file.submission)
        return runner.run_case(assignment, case, file.submission, file.threads)

    made = list(files(assignment))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [[pool.submit(run, file, case) for case in assignment.cases] for file in made]
        try:
            for file, of_cases in zip(made, futures, strict=True):
                runs = tuple(future.result() for future in of_cases)
                grade, _ = batch.judge(assignment, expected, file.submission, runs, mistakes)
                yield Row(file, grade)
        finally:
            pool.shutdown(cancel_futures=True)


def _copied(assignment: Assignment, expected: Expected) -> Iterator[Problem]:
    """Hidden cases in which a public case's answers earn everything: they hide nothing."""
    hidden = [case for case in assignment.cases if case.hidden]
    public = [case for case in assignment.cases if not case.hidden]
    for case in hidden:
        alone = replace(assignment, cases=(case,))
        for other in public:
            copied = replace(expected[other.name], case=case.name)
            grade, _ = batch.judge(alone, expected, reference(assignment), (copied,))
            if not any(map(_short, grade.checks)):
                message = f"the answers of case {other.name} earn everything: it hides nothing"
                yield Problem(f"case {case.name}", message)


def _examine(assignment: Assignment, row: Row) -> Iterator[Problem]:
    """What does not hold of one file."""
    name, grade = row.file.name, row.grade
    for check in grade.checks:
        if check.status in ("error", "not_run"):
            message = f"check {check.name} in case {check.case} is {check.status}: {check.message}"
            yield Problem(name, message)
    if row.file.kind == "stub":
        if earning := [check for check in grade.checks if check.earned > 0]:
            yield Problem(name, f"the untouched stub earns points: {_named(earning)}")
    elif row.file.kind == "wrong":
        yield from _examine_wrong(assignment, row)
    else:
        if short := [check for check in grade.checks if _short(check)]:
            yield Problem(name, f"it is right, but loses {_named(short)}; {short[0].message}")
        yield from _mistaken(name, grade.checks)


def _examine_wrong(assignment: Assignment, row: Row) -> Iterator[Problem]:
    name, loses = row.file.name, row.file.loses
    known = {part.name for part in assignment.parts}
    if not loses:
        yield Problem(name, "its docstring has no line `Loses:` with the parts that it loses")
    elif unknown := sorted(loses - known):
        yield Problem(name, f"`Loses:` names no part: {', '.join(unknown)}")
    elif kept := sorted(loses - row.lost):
        yield Problem(name, f"it should lose {', '.join(kept)}, but earns all of it")
    own = name.removeprefix("wrong/")
    for told in sorted({check.mistake for check in row.grade.checks if check.mistake}):
        if own not in re.split(" and | or ", told):
            yield Problem(name, f"it is taken for the mistake {told}")
    if loses and (more := [c for c in row.grade.checks if _short(c) and c.part not in loses]):
        yield Problem(name, f"it loses more than it names: {_named(more)}; {more[0].message}")


def _mistaken(name: str, checks: Iterable[Check]) -> Iterator[Problem]:
    """Known mistakes that were found in a right file."""
    for mistake in sorted({check.mistake for check in checks if check.mistake is not None}):
        yield Problem(name, f"it is right, but is taken for the mistake {mistake}")


def _failed_by(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Which wrong files fail each check in some case, by part and check."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        for check in row.grade.checks:
            names = found.setdefault((check.part, check.name), {})
            if row.file.kind == "wrong" and _short(check):
                names[row.file.name] = None
    return {key: tuple(names) for key, names in found.items()}


def _short(check: Check) -> bool:
    """Whether a check did not give all that it could."""
    return check.status != "passed"


def _named(checks: Iterable[Check]) -> str:
    """Checks by name and case."""
    return ", ".join(f"{check.name} ({check.case})" for check in checks)
