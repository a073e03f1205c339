"""What a class costs: `python benchmarks/classes.py [SIZE...]`.

Makes classes of the lab `pieces` out of its right and wrong files, each with a line of its own so
that no two are the same, and grades them with one and with all processors. For each it prints the
wall time, the children's own processor time, the overhead of a submission (wall time times workers,
less that processor time, over the number of submissions), the peak memory of the grading process,
how long a regrade of the largest takes after a change of points, and how two workers compare with
one where each submission computes for a second.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from grader.batch import processors
from grader.home import home

LAB = "pieces"
KB = 1024
#: About a second's work of a processor here, for submissions that compute more than the lab's do.
WORK = """
import torch

_matrix = torch.full((256, 256), 1 / 256)
for _ in range(1500):
    _matrix = _matrix @ _matrix
"""


def make_class(folder: Path, size: int, lab: str = LAB, more: str = "") -> Path:
    """A class of a lab: its right and wrong files in turn, each with a comment of its own.

    Args:
        folder: where it goes.
        size: how many submissions.
        lab: whose.
        more: what each of them does besides, as source.
    """
    solutions = home() / "solutions" / lab
    files = sorted(solutions.glob("*/*.py"))
    for number in range(size):
        student = folder / f"s{number:04}"
        student.mkdir(parents=True)
        text = files[number % len(files)].read_text("utf-8")
        (student / f"{lab}.py").write_text(f"{text}\n{more}# {number}\n", "utf-8")
    return folder


def grade(folder: Path, out: Path, workers: int, lab: str = LAB) -> dict[str, float]:
    """Grade a class in a process of its own; its figures."""
    words = ["grade", lab, str(folder), "--out", str(out), "--workers", str(workers)]
    start = time.perf_counter()
    used = _run(words)
    wall = time.perf_counter() - start
    lines = (out / lab / "journal.jsonl").read_text("utf-8").splitlines()
    times = [json.loads(line)["time"] for line in lines]
    runs = [json.loads(path.read_text("utf-8")) for path in out.glob(f"{lab}/*/runs/*.json")]
    return {
        "wall": wall,
        "graded": len(times),
        "children": sum(run["cpu_seconds"] for run in runs),
        "peak_mb": used,
    }


def _run(words: list[str], **environment: str) -> float:
    """Run the command; the peak memory of its own process, in MB."""
    child = os.fork()
    if child == 0:
        with open(os.devnull, "wb") as null:  # noqa: PTH123 - a device
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
        os.environ.update(environment)
        os.execv(sys.executable, [sys.executable, "-m", "grader", *words])  # noqa: S606 - ours
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"grader {' '.join(words)} ended with {status}")
    return usage.ru_maxrss / KB


def startup(folder: Path) -> float:
    """Wall time of grading one submission: start of everything, and one submission."""
    start = time.perf_counter()
    grade(make_class(folder / "one", 1), folder / "one-out", 1)
    return time.perf_counter() - start


def regrade(out: Path, folder: Path) -> float:
    """Wall time of a regrade after a change of points, in a copy of the course."""
    course = folder / "course"
    for side in ("assignments", "solutions"):
        shutil.copytree(home() / side, course / side)
    toml = course / "assignments" / LAB / "assignment.toml"
    text = toml.read_text("utf-8")
    toml.write_text(re.sub(r"points = (\d+)", r"points = 1\1", text), "utf-8")
    start = time.perf_counter()
    _run(["regrade", LAB, str(out)], GRADER_COURSE=str(course))
    return time.perf_counter() - start


def scaling(folder: Path, start: float, size: int) -> None:
    """Print how many times as much all workers do as one, where the submissions compute."""
    students = make_class(folder / "busy", size, more=WORK)
    walls = [
        grade(students, folder / f"busy-{workers}", workers)["wall"] - start
        for workers in (1, processors())
    ]
    print(f"{size} submissions that compute: one worker {walls[0]:.1f} s, ", end="")
    print(f"{processors()} workers {walls[1]:.1f} s, {walls[0] / walls[1]:.2f} times as fast")


def main(*sizes: int) -> None:
    """Print a row a class."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        startup(folder)  # the reference's runs and the file cache
        shutil.rmtree(folder / "one")
        shutil.rmtree(folder / "one-out")
        start = startup(folder)
        print(f"start and one submission: {start:.1f} s")
        print("class workers   wall s  children s  overhead ms a submission   peak MB")
        walls = {}
        for size in sizes or (10, 100, 300):
            students = make_class(folder / f"in-{size}", size)
            for workers in sorted({1, processors()}):
                out = folder / f"out-{size}-{workers}"
                found = grade(students, out, workers)
                spent = (found["wall"] - start) * workers - found["children"]
                walls[size, workers] = found["wall"] - start
                print(
                    f"{size:5d} {workers:7d} {found['wall']:8.1f} {found['children']:11.1f}"
                    f" {spent / size * 1e3:25.1f} {found['peak_mb']:9.0f}"
                )
            if processors() > 1:
                ratio = walls[size, 1] / walls[size, processors()]
                print(f"      {processors()} workers do {ratio:.2f} times what one does")
        last = folder / f"out-{size}-{processors()}"
        scaling(folder, start, 24)
        print(f"regrade of {size} after a change of points: {regrade(last, folder):.1f} s")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time of all: {children.ru_utime + children.ru_stime:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
