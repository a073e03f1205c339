"""Processes of our own that check: `Judges(judge, count).judge(...) -> grade, more`.

Checks are pytest's work and take as long as a small run does; in one process they would hold up a
class, and pytest is not safe in threads. Each process is a fork of this one, which has loaded the
lab; runs reach it as bytes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any, TypeAlias

import torch

from grader import kernel, store
from grader.records import Grade, Run, SandboxError, Submission

#: Takes a submission, its runs, and the reference's in cases that are the student's own.
Judge: TypeAlias = Callable[[Submission, tuple[Run, ...], tuple[Run, ...]], tuple[Grade, Any]]

#: How much less than runs, whose time is limited, checks press for a processor.
_STAND_BACK = 5
#: The judge of such a process; it could not be sent there, and comes along with the fork.
_here: Judge | None = None


class Judges:
    """So many judges at work at once; to be made while this process has no other thread.

    Args:
        judge: how one submission is judged.
        count: how many at once.
    """

    def __init__(self, judge: Judge, count: int) -> None:
        self._judge = judge
        self._one_at_a_time = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        if sys.platform == "linux":  # elsewhere a fork of a process that uses torch is not safe
            fork = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(count, fork, _enter, (judge, os.getpid()))
            self._pool.submit(os.getpid).result()  # the first task starts all processes

    def judge(
        self, submission: Submission, runs: tuple[Run, ...], own: tuple[Run, ...] = ()
    ) -> tuple[Grade, Any]:
        """Have a submission judged; may be called from several threads.

        Raises:
            AssignmentError: the lab's checks cannot be run as they stand.
            SandboxError: a judge was ended from outside.
        """
        if self._pool is None:
            with self._one_at_a_time:
                return self._judge(submission, runs, own)
        packed = [[store.as_pair(run) for run in group] for group in (runs, own)]
        try:
            grade, more = self._pool.submit(_judge_here, submission, *packed).result()
        except BrokenProcessPool:
            raise SandboxError(
                "a process that checks was ended, perhaps for want of memory; grade again with "
                "fewer --workers, what is graded stays"
            ) from None
        return replace(grade, runs=runs), more

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _enter(judge: Judge, parent: int) -> None:
    """Begin as a judge: never outlive the grader, whose locks a fork holds too."""
    global _here
    _here = judge
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.nice(_STAND_BACK)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader hears it and ends us
    torch.set_num_threads(1)  # a fork cannot use the threads that it left behind


def _judge_here(
    submission: Submission, runs: list[tuple[str, bytes]], own: list[tuple[str, bytes]]
) -> tuple[Grade, Any]:
    if _here is None:
        raise RuntimeError("not a judge's process")
    opened = (tuple(store.from_pair(*pair) for pair in group) for group in (runs, own))
    grade, more = _here(submission, *opened)
    return replace(grade, runs=()), more
