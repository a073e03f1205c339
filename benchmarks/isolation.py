"""What the sandbox costs a run: `python benchmarks/isolation.py [COUNT]`.

Runs an empty script again and again, in turn

    with all layers       as every submission runs: jailer, child, namespaces and all else
    with no layer         jailer and child alone
    without isolation     one fork of a warm process, and the same work in it

and prints the medians of their wall times, as the process that asks for them sees it, and what
isolation adds: the first less the last, second fork included. Run it on a machine that does nothing
else.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

from grader import bundles, codec, worker, zygote
from grader.assignment import load
from grader.records import Case, Submission
from grader.runner import Runner

LAYERS = ("namespaces", "root", "landlock", "seccomp", "limits", "no_new_privs", "capabilities")
CASE = Case("empty", "tiny", 30, 30, 30, 0, share=1, hidden=False, seconds=20, memory_mb=256)
SUBMISSION = Submission("empty", {"empty.py": b""}, "empty.py")


def main(count: int = 50) -> None:
    """Print the medians and what isolation adds."""
    course = load("pieces").course
    bundle = bundles.find("tiny")
    os.environ["COURSE_BUNDLE"] = str(bundle.folder)
    sys.path.insert(0, str(course))
    zygote.warm_up()
    with Runner({"tiny": bundle}, "limits") as runner:

        def confined(without: tuple[str, ...]) -> None:
            runner.without = without
            run = runner.launch(course, CASE, SUBMISSION, [])
            if run.status != "ok":
                raise SystemExit(f"the run ended as {run.status}: {run.message}")

        ways: dict[str, Callable[[], None]] = {
            "with all layers": lambda: confined(()),
            "with no layer": lambda: confined(LAYERS),
            "without isolation": _bare,
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(count):
            for name, way in ways.items():
                start = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(column) * 1e3 for name, column in seconds.items()}
    for name, median in medians.items():
        print(f"{name:18} {median:6.1f} ms")
    added = medians["with all layers"] - medians["without isolation"]
    print(f"isolation adds {added:.1f} ms, second fork included")


def _bare() -> None:
    """The same run in a fork of this process, with nothing that confines or watches it."""
    with tempfile.TemporaryDirectory() as folder:
        header = {
            "workspace": folder,
            "entry": SUBMISSION.entry,
            "files": [["empty.py", 0]],
            "rows": {"train": CASE.train, "val": CASE.val, "test": CASE.test},
            "seed": CASE.seed,
            "probes": [],
            "seconds": CASE.seconds,
            "threads": 1,
        }
        job, result, output, errors = (os.pipe() for _ in range(4))
        child = os.fork()
        if child == 0:
            os.close(job[1])
            worker.main(job[0], result[1], output[1], errors[1])
        for read, write in (job, result, output, errors):
            os.close(read if read == job[0] else write)
        os.write(job[1], codec.seal(header, b""))
        os.close(job[1])
        told = b"".join(iter(lambda: os.read(result[0], 1 << 16), b""))
        kinds = [header["kind"] for header, _ in codec.FrameReader().feed(told)]
        os.waitpid(child, 0)
        for pipe in (result, output, errors):
            os.close(pipe[0])
    if kinds[-1] != "end":
        raise SystemExit(f"the run ended early, after {kinds}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
