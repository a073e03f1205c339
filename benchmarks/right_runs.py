"""Does the grader fail what is right? `python benchmarks/right_runs.py LAB [DRAWS]`.

Runs a lab's right files and its reference, each as it is, with two threads, in batches of 1, 16 and
256 and with eager attention, and each of these in so many draws of every case's rows, others than
the bands were made from. Prints how many runs lost a point.
"""

from __future__ import annotations

import sys

from grader import batch
from grader.assignment import load
from grader.calibrate import right_runs


def main(lab: str, draws: int = 3) -> None:
    """Print a line a file, and the sum."""
    assignment = load(lab)
    with batch.open_runner(assignment) as runner:
        found = right_runs(assignment, runner, draws)
    for name, (short, runs) in found.items():
        print(f"{short:4d} of {runs:4d} runs lost points: {name}")
    total = [sum(column) for column in zip(*found.values(), strict=True)]
    print(f"{lab}: {total[0]} of {total[1]} runs of what is right lost points")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
