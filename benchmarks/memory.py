"""What each process of a class at work holds: `python benchmarks/memory.py [LAB] [RUNS]`.

Starts so many runs of a lab's solution that wait after their last line, and prints the resident and
the proportional set size of every process by what it is: with the proportional size a page that n
processes share counts an nth in each, so that the sizes add up to what is really used.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from measure import tree

from grader import batch
from grader.assignment import load
from grader.known import kept_run, reference

WAIT = b"\nimport time\nprint('waits', flush=True)\ntime.sleep(30)\n"
KB = 1024


def main(lab: str = "random_bert", runs: str = "2") -> None:
    """Print the sizes."""
    loaded = load(lab)
    assignment = replace(loaded, cases=loaded.cases[:1])
    case = replace(assignment.cases[0], seconds=90.0)
    solution = reference(assignment)
    waiting = replace(solution, files={name: code + WAIT for name, code in solution.files.items()})
    with batch.open_runner(assignment) as runner:
        kept_run(assignment, case, runner.bundles, runner.run_case, solution)
        threads = [
            threading.Thread(target=runner.run_case, args=(assignment, case, waiting))
            for _ in range(int(runs))
        ]
        for thread in threads:
            thread.start()
        time.sleep(20)  # all are at their last line, which waits for longer
        _show()
        for thread in threads:
            thread.join()


def _show() -> None:
    print(f"{'process':34} {'resident MB':>12} {'proportional MB':>16}")
    total = 0.0
    for process in tree(os.getpid()):
        sizes = _sizes(process)
        if sizes is None:
            continue
        total += sizes["Pss"]
        print(f"{_what(process):34} {sizes['Rss']:12.1f} {sizes['Pss']:16.1f}")
    print(f"{'all':34} {'':12} {total:16.1f}")


def _what(process: int) -> str:
    """What a process is, by where it hangs in the tree."""
    depth, parent = 0, process
    while parent != os.getpid():
        parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
        depth += 1
    return ("grading process", "warm process", "jailer", "child")[min(depth, 3)]


def _sizes(process: int) -> dict[str, float] | None:
    """Resident and proportional set size, MB; None for a process that has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return None
    return {line.split(":")[0]: int(line.split()[1]) / KB for line in lines}


if __name__ == "__main__":
    main(*sys.argv[1:3])
