"""The known mistakes of a lab: `wrong(assignment, ...) -> Mistakes`, one a file in `wrong/`.

Each file is a whole submission with one mistake in it. The first sentence of its docstring says to
the student what was done. Its runs are made like the reference's and kept with them; they are made
when first asked for, since a class without a lost point needs none.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from grader.bundles import Bundle
from grader.known import RunCase, kept_run
from grader.records import Assignment, AssignmentError, Run, Submission


@dataclass(frozen=True)
class Mistakes:
    """What is known to go wrong in a lab, by name."""

    told: Mapping[str, str]  #: what was done, in a sentence to the student
    runs: Callable[[], Mapping[str, Mapping[str, Run]]]  #: name -> case -> run


def wrong(
    assignment: Assignment, bundles: Mapping[str, Bundle], run_case: RunCase, workers: int
) -> Mistakes:
    """The mistakes of an assignment; none in a student's copy, which has no `solutions/`.

    Args:
        assignment: whose.
        bundles: those of its cases.
        run_case: runs one of them in a case.
        workers: how many runs go on at once.

    Raises:
        AssignmentError: a file is no Python or has no docstring.
    """
    folder = assignment.solutions
    paths = sorted((folder / "wrong").glob("*.py")) if folder else []
    # Parsed here, before there are threads: Python 3.11 cannot parse two texts at once.
    told = {path.stem: _first_sentence(path) for path in paths}

    @functools.cache
    def runs() -> Mapping[str, Mapping[str, Run]]:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            futures = {
                (path.stem, case.name): pool.submit(
                    kept_run, assignment, case, bundles, run_case, _submission(assignment, path)
                )
                for path in paths
                for case in assignment.cases
            }
            found: dict[str, dict[str, Run]] = {name: {} for name in told}
            for (name, case), future in futures.items():
                found[name][case] = future.result()
        return found

    return Mistakes(told, runs)


def _submission(assignment: Assignment, path: Path) -> Submission:
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
