"""Judges: they judge what they are given, end with their grader, and tell when they are ended."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from grader.judges import Judges
from grader.records import Grade, Run, SandboxError, Submission

SUBMISSION = Submission("ada", {"a.py": b"a = 1"}, "a.py")
RUN = Run("public", "ok", None, {"a": [1, "two"], "t": torch.tensor([1.0, 2.0])})

ENDLESS = """
import sys, time
from grader.judges import Judges
judges = Judges(lambda submission, runs: None, 2)
print(*judges._pool._processes, flush=True)
time.sleep(600)
"""


def _judge(
    submission: Submission, runs: tuple[Run, ...], own: tuple[Run, ...]
) -> tuple[Grade, int]:
    if submission.student == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    points = float(runs[0].values["t"].sum())  # type: ignore[union-attr, arg-type]
    return Grade("lab", submission.student, points, 4.0, False, (), runs, ()), os.getpid()


def test_a_judge_gets_the_values_and_is_another_process() -> None:
    judges = Judges(_judge, 2)
    try:
        grade, where = judges.judge(SUBMISSION, (RUN,))
    finally:
        judges.close()
    assert (grade.student, grade.points) == ("ada", 3.0)
    assert grade.runs == (RUN,)
    assert where != os.getpid()
    assert not multiprocessing.active_children()


def test_a_judge_that_is_killed_is_our_fault_and_told() -> None:
    judges = Judges(_judge, 1)
    try:
        with pytest.raises(SandboxError, match="grade again with fewer --workers"):
            judges.judge(Submission("kill", {}, "a.py"), (RUN,))
    finally:
        judges.close()


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_judges_do_not_outlive_a_killed_grader() -> None:
    grader = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    pids = [int(word) for word in grader.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(_alive, pids))
    grader.kill()
    grader.wait()
    grader.stdout.close()
    end = time.monotonic() + 10
    while any(map(_alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_alive, pids))
