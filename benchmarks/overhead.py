"""What the harness adds to a submission's own time: `python benchmarks/overhead.py [LAB] [COUNT]`.

Grades the lab's reference again and again, one at a time, and prints for each submission the wall
time of everything (fork, pipes, checks, scoring) less the time that its children took, from fork to
exit. The first submission, which waits for the warm process and the reference, is shown apart.
"""

from __future__ import annotations

import statistics
import sys
import time

from grader import batch
from grader.assignment import load
from grader.known import reference


def main(lab: str = "pieces", count: int = 20) -> None:
    """Print the first submission's time and the median and maximum over the others."""
    assignment = load(lab)
    submission = reference(assignment)
    rows = []
    with batch.open_runner(assignment) as runner:
        for _ in range(count + 1):
            start = time.perf_counter()
            ((grade, _),) = batch.grade_all(assignment, [submission], runner, batch.Means(1))
            wall = time.perf_counter() - start
            children = sum(run.seconds for run in grade.runs)
            cpu = sum(run.cpu_seconds for run in grade.runs)
            rows.append((wall, children, cpu, wall - children))
    print(f"{lab}, {len(assignment.cases)} cases; first submission {rows[0][0]:.2f} s")
    names = ("wall", "children's wall", "children's processor", "added by the harness")
    for name, column in zip(names, zip(*rows[1:], strict=True), strict=True):
        print(f"{name:22s} median {statistics.median(column):.3f} s  max {max(column):.3f} s")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
