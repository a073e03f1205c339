"""What the sandbox costs a run: `python benchmarks/isolation.py [COUNT]`.

Runs an empty script again and again, in turn with all layers and with none, and prints the medians
of the run's wall time from the jailer's fork to its end, and their difference. Both have the second
fork, for process 1; what that costs alone, with its end, is timed here, in a process that is warm
like the zygote, and added. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

from grader import bundles, zygote
from grader.assignment import load
from grader.records import Case, Submission
from grader.runner import Runner

LAYERS = ("namespaces", "root", "landlock", "seccomp", "limits", "no_new_privs", "capabilities")
CASE = Case("empty", "tiny", 30, 30, 30, 0, share=1, hidden=False, seconds=20, memory_mb=256)


def main(count: int = 50) -> None:
    """Print the medians and what isolation adds."""
    course = load("pieces").course
    seconds: dict[tuple[str, ...], list[float]] = {(): [], LAYERS: []}
    bundle = bundles.find("tiny")
    with Runner({"tiny": bundle}, "limits") as runner:
        for _ in range(count):
            for without, column in seconds.items():
                runner.without = without
                submission = Submission("empty", {"empty.py": b""}, "empty.py")
                column.append(runner.launch(course, CASE, submission, []).seconds)
    os.environ["COURSE_BUNDLE"] = str(bundle.folder)
    sys.path.insert(0, str(course))
    zygote.warm_up()
    fork = statistics.median(_fork() for _ in range(count))
    all_layers, none = (statistics.median(column) for column in seconds.values())
    print(f"all layers {all_layers * 1e3:.1f} ms, none {none * 1e3:.1f} ms, ", end="")
    print(f"a fork of a warm process {fork * 1e3:.1f} ms")
    print(f"isolation adds {(all_layers - none + fork) * 1e3:.1f} ms, second fork included")


def _fork() -> float:
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
