"""Kills a grader again and again: `python benchmarks/kills.py [KILLS] [SIZE]`.

Grades a class of the lab `pieces` undisturbed, then again with a `kill -9` at a random moment, and
so on until the class is done, as often as asked; and says whether the results are the same but for
times.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from classes import LAB, make_class

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from test_pipeline import _files as files


def _start(students: Path, out: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "grader", "grade", LAB, str(students), "--out", str(out)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(kills: int = 20, size: int = 50) -> None:
    """Print a line a kill, and whether all came out as undisturbed."""
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        students = make_class(folder / "in", size)
        start = time.perf_counter()
        if _start(students, folder / "whole").wait() != 0:
            raise SystemExit("the undisturbed grader did not end well")
        whole = time.perf_counter() - start
        expected = files(folder / "whole")
        same = 0
        for number in range(kills):
            out = folder / "killed"
            shutil.rmtree(out, ignore_errors=True)
            grader = _start(students, out)
            moment = rng.uniform(0, whole)
            time.sleep(moment)
            grader.send_signal(signal.SIGKILL)
            grader.wait()
            written = len(list(out.glob("*/*/grade.json")))
            ended = _start(students, out).wait()
            equal = ended == 0 and files(out) == expected
            same += equal
            print(f"kill {number + 1} after {moment:.1f} s, {written} graded: {equal}", flush=True)
    print(f"{same} of {kills} came out as undisturbed")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
