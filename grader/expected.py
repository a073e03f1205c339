"""Writes the expected values that a student's copy of a lab carries, for its public cases.

python -m grader.expected      # every lab of the course, into assignments/<lab>/expected/
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader import batch, store
from grader.assignment import load
from grader.home import labs
from grader.known import expected_path, known


def write_expected(lab: str) -> list[Path]:
    """Run a lab's reference in its public cases on the bundle `tiny` and write what it gives.

    Only the values and what is printed go along; no time or memory, which differ from run to run.

    Returns:
        The paths written, without their endings.
    """
    assignment = load(lab)
    public = tuple(case for case in assignment.cases if not case.hidden)
    assignment = replace(assignment, cases=public)
    with batch.open_runner(assignment) as runner:
        runs = known(assignment, runner.bundles, runner.run_case)
    paths = []
    for case in public:
        path = expected_path(assignment, case)
        run = replace(runs[case.name], seconds=0.0, cpu_seconds=0.0, memory_mb=0.0, errors="")
        store.save_run(path, run)
        paths.append(path)
    return paths


if __name__ == "__main__":
    for name in labs():
        for written in write_expected(name):
            print(written)  # noqa: T201 - what was asked for
