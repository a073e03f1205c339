"""The known mistakes of a lab: `wrong(assignment, ...) -> Mistakes`, one a file in `wrong/`.

Each file is a whole submission with one mistake in it. The first sentence of its docstring says to
the student what was done. Its runs are made like the reference's and kept with them; they are made
when first asked for.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from grader import asked, checks, files, keys
from grader.bundles import Bundle
from grader.known import RunCase, cache, kept_run
from grader.leaves import CLOSE, Difference, Leaf, answers, difference
from grader.printed import PrintedDifference, printed, printed_difference
from grader.records import Assignment, AssignmentError, Check, Run, Submission

#: What was asked: a case and a probe, or `asked.OUTPUT` for what was printed.
Question: TypeAlias = tuple[str, str]
Lost: TypeAlias = frozenset[tuple[str, str]]
Differences: TypeAlias = Mapping[Question, Difference | PrintedDifference]

#: How many times what the checks allow a mistake may be off that was made in another way.
_ANOTHER_WAY = 10


@dataclass(frozen=True)
class Mistakes:
    """What is known to go wrong in a lab, by name."""

    told: Mapping[str, str]  #: what was done, in a sentence to the student
    differences: Callable[[], Mapping[str, Differences]]  #: from the reference, by name
    lost: Callable[[], Mapping[str, Lost]]  #: the checks and cases that each loses
    #: takes the reference's answers in a case apart; once, where it can
    ours: Callable[[Run], Mapping[str, Mapping[str, Leaf]]] = answers
    #: within which answers to a probe are the same, by probe; CLOSE where nothing is said
    near: Callable[[], Mapping[str, float]] = dict


#: Where no mistake is known, as in a student's copy.
NONE = Mistakes({}, dict, dict)


def wrong(
    assignment: Assignment,
    expected: Mapping[str, Run],
    bundles: Mapping[str, Bundle],
    run_case: RunCase,
    workers: int,
) -> Mistakes:
    """The mistakes of an assignment; none in a student's copy, which has no `solutions/`.

    Args:
        assignment: whose.
        expected: the reference's run by case.
        bundles: those of its cases.
        run_case: runs one of them in a case.
        workers: how many runs go on at once.

    Raises:
        AssignmentError: a file is no Python or has no docstring.
    """
    if assignment.solutions is None:
        return NONE
    paths = sorted((assignment.solutions / "wrong").glob("*.py"))
    # Parsed here, before there are threads: Python 3.11 cannot parse two texts at once.
    told = {path.stem: _first_sentence(path) for path in paths}

    @functools.cache
    def runs() -> dict[str, dict[str, Run]]:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            futures = {
                (path.stem, case.name): pool.submit(
                    kept_run, assignment, case, bundles, run_case, submission(assignment, path)
                )
                for path in paths
                for case in assignment.cases
            }
            found: dict[str, dict[str, Run]] = {name: {} for name in told}
            for (name, case), future in futures.items():
                found[name][case] = future.result()
        return found

    @functools.cache
    def of_reference(case: str) -> Mapping[str, Mapping[str, Leaf]]:
        return answers(expected[case])

    def ours(run: Run) -> Mapping[str, Mapping[str, Leaf]]:
        return of_reference(run.case) if run is expected.get(run.case) else answers(run)

    @functools.cache
    def differences() -> dict[str, Differences]:
        return {
            name: compared(of_cases, expected, ours, near()) for name, of_cases in runs().items()
        }

    @functools.cache
    def judged() -> Mapping[str, Mapping[str, Any]]:
        return _judged(assignment, expected, runs)

    @functools.cache
    def lost() -> Mapping[str, Lost]:
        found = judged()["lost"].items()
        return {name: frozenset((check, case) for check, case in of) for name, of in found}

    def near() -> Mapping[str, float]:
        return judged()["near"]

    return Mistakes(told, differences, lost, ours, near)


def _judged(
    assignment: Assignment,
    expected: Mapping[str, Run],
    runs: Callable[[], Mapping[str, Mapping[str, Run]]],
) -> Mapping[str, Mapping[str, Any]]:
    """What the checks say of the mistakes: kept in the cache, as their runs are.

    `lost`: the checks that each mistake loses, as pairs of name and case. `near`: how near answers
    to a probe are that are the same.
    """
    digest = keys.of_checks(assignment, expected)
    kept = cache() / assignment.name / f"judged-{digest}.json"
    judged: dict[str, dict[str, Any]]
    with contextlib.suppress(OSError, ValueError):
        judged = json.loads(kept.read_text("utf-8"))
        return judged
    with checks.Checker(assignment, expected) as checker:
        found = {name: checker.check(tuple(of.values()))[0] for name, of in runs().items()}
    lost = {
        name: sorted((one.name, one.case) for one in of if one.status != "passed")
        for name, of in found.items()
    }
    judged = {"lost": lost, "near": _near(found.values())}
    kept.parent.mkdir(parents=True, exist_ok=True)
    files.write(kept, json.dumps(judged))
    return judged


def _near(found: Iterable[Iterable[Check]]) -> dict[str, float]:
    """How near answers to each probe are that are the same, from what its checks allow at most."""
    allowed: dict[str, float] = {}
    for check in itertools.chain.from_iterable(found):
        for probe in check.probes if check.allowed else ():
            allowed[probe] = max(allowed.get(probe, 0.0), check.allowed or 0.0)
    return {probe: min(CLOSE, _ANOTHER_WAY * most) for probe, most in allowed.items()}


def compared(
    runs: Mapping[str, Run],
    expected: Mapping[str, Run],
    ours: Callable[[Run], Mapping[str, Mapping[str, Leaf]]] = answers,
    near: Mapping[str, float] | None = None,
) -> Differences:
    """How a mistake's answers and output differ from the reference's, in each case."""
    found: dict[Question, Difference | PrintedDifference] = {}
    near = near or {}
    for case, run in runs.items():
        theirs = ours(expected[case])
        for probe, answer in answers(run).items():
            if values := difference(answer, theirs.get(probe, {}), near.get(probe, CLOSE)):
                found[case, probe] = values
        if output := printed_difference(printed(run.output), printed(expected[case].output)):
            found[case, asked.OUTPUT] = output
    return found


def submission(assignment: Assignment, path: Path) -> Submission:
    """A file of ours as if it had been handed in."""
    return Submission(path.stem, {assignment.file: path.read_bytes()}, assignment.file)


def _first_sentence(path: Path) -> str:
    """The first sentence of a file's docstring."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    except (OSError, SyntaxError, ValueError) as problem:
        raise AssignmentError(f"{path}: it cannot be read: {problem}") from None
    if not text:
        raise AssignmentError(f"{path}: add a docstring that tells the student what was done")
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", text, maxsplit=1)[0]
    return " ".join(first.split())
