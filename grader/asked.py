"""What a check is handed: a run's values by probe, and partial credit."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping

from grader.records import AssignmentError, Run, Value

OUTPUT = "printed output"  #: what a check asked for that looked at the output, among its probes


class StudentFault(AssertionError):
    """The student's run has no such value; the message says why."""


class Values(Mapping[str, Value]):
    """The answers of one run by probe, with what it printed.

    Asking for an answer that is not there is a student's fault, with the reason as the message; in
    the reference it is the lab's.
    """

    def __init__(self, run: Run, *, reference: bool) -> None:
        self._run = run
        self._reference = reference
        #: The probes that were asked for, in that order; the keys of a dict, so that each is there
        #: once.
        self.asked: dict[str, None] = {}

    @property
    def output(self) -> str:
        """What the script printed."""
        self.asked[OUTPUT] = None
        return self._run.output

    @property
    def lines(self) -> list[str]:
        """The lines of it that are not blank, without the space around them."""
        return [line.strip() for line in self.output.splitlines() if line.strip()]

    def __getitem__(self, probe: str) -> Value:
        self.asked[probe] = None
        if probe in self._run.values:
            return self._run.values[probe]
        if self._reference:
            raise AssignmentError(f"the reference has no answer to the probe {probe!r}")
        reasons = [self._run.faults.get(probe), self._run.message]
        raise StudentFault("\n".join(reason for reason in reasons if reason) or "no answer")

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.values)

    def __len__(self) -> int:
        return len(self._run.values)


class Credit:
    """Partial credit: each item counts the same unless it has a weight of its own."""

    def __init__(self) -> None:
        self.earned = 0.0
        self.total = 0.0
        self.problems: list[str] = []

    @contextlib.contextmanager
    def item(self, weight: float = 1.0) -> Iterator[None]:
        """One item; an assertion that fails inside costs this item and no other."""
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"the weight of an item is {weight}, not a number of at least 0")
        self.total += weight
        try:
            yield
        except AssertionError as problem:
            text = str(problem)
            if text not in self.problems:
                self.problems.append(text)
        else:
            self.earned += weight

    @property
    def fraction(self) -> float:
        """What was earned of what was asked, 0 to 1."""
        return self.earned / self.total if self.total else 0.0
