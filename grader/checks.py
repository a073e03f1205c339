"""Runs a lab's checks: pytest, in a process of ours, on values that came out of the sandbox.

A lab's `test_public.py` looks at every case, its `test_hidden.py` at the hidden ones. A test takes
the fixtures `student` and `reference` (the values by probe, in the case at hand) and says which
part it belongs to:

    @pytest.mark.part("views", weight=2, hint="Look at the mask.")
    def test_mean_views(student, reference, credit): ...

pytest-json-report's report is the record from which the verdicts are read: an assertion, or a
student's fault, is `failed`; anything else that goes wrong is `error`, and a person must look.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any
from unittest import mock

import pytest

from grader import bands
from grader.assignment import check_files
from grader.plugin import NOTE, Plugin, Round
from grader.records import Assignment, AssignmentError, Check, CheckStatus, Run

#: Plugins of pytest that checks have no use for and that cost two thirds of a session's start.
_UNUSED = (
    "unraisableexception", "threadexception", "logging", "junitxml", "pastebin", "stepwise",
    "doctest", "setuponly", "setupplan", "warnings", "faulthandler", "unittest", "debugging",
    "recwarn", "subtests", "capture",
)  # fmt: skip


def check(
    assignment: Assignment, known: Mapping[str, Run], runs: tuple[Run, ...]
) -> tuple[tuple[Check, ...], dict[str, Any]]:
    """Judge one submission's runs, see `Checker`."""
    with Checker(assignment, known) as checker:
        return checker.check(runs)


class Checker:
    """A lab's checks, ready to be asked about one submission after another, one at a time.

    Pytest's session runs in a thread of its own and waits there for the next.

    Args:
        assignment: whose checks are run.
        known: the reference's run by case.
    """

    def __init__(self, assignment: Assignment, known: Mapping[str, Run]) -> None:
        self._assignment = assignment
        self._known = known
        self._asked: SimpleQueue[Round | None] = SimpleQueue()
        self._told: SimpleQueue[dict[str, Any] | BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Checker:
        silent = contextlib.redirect_stdout(io.StringIO())  # pytest's terminal keeps it
        with silent:
            self._thread.start()
            self._hear()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._asked.put(None)
        self._thread.join()

    def check(self, runs: tuple[Run, ...]) -> tuple[tuple[Check, ...], dict[str, Any]]:
        """Judge a submission's runs, one for each case.

        Returns:
            The checks in the order of the parts, and pytest-json-report's report.

        Raises:
            AssignmentError: the lab's checks cannot be run as they stand.
        """
        with contextlib.redirect_stdout(io.StringIO()):  # the report has it all
            self._asked.put(({run.case: run for run in runs}, self._told.put))
            report = self._hear() or {}
        return _verdicts(self._assignment, report), report

    def _hear(self) -> dict[str, Any] | None:
        heard = self._told.get()
        if isinstance(heard, BaseException):
            raise heard
        return heard

    def _rounds(self) -> Iterator[Round]:
        """What is asked, until nothing more is; called for once the checks are collected."""
        self._told.put(None)
        while (asked := self._asked.get()) is not None:
            yield asked

    def _serve(self) -> None:
        """Run pytest; where it ends before it was told to, say why to whoever asks."""
        try:
            ended: BaseException | None = self._run_pytest()
        except BaseException as problem:  # noqa: BLE001 - it is raised where somebody waits for it
            ended = problem
        if ended is not None:
            self._told.put(ended)

    def _run_pytest(self) -> AssignmentError | None:
        assignment = self._assignment
        files = check_files(assignment)
        if not files:  # pytest would collect the working directory instead
            return AssignmentError(
                f"{assignment.folder}: there is no test_public.py; add the checks"
            )
        plugin = Plugin(assignment, self._known, self._rounds())
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
        with mock.patch.dict(os.environ, alone), bands.use(assignment.bands):
            status = pytest.main(_arguments(assignment, files), plugins=[plugin.reporter, plugin])
        _forget(files)
        if plugin.problem is not None:
            return AssignmentError(plugin.problem)
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return AssignmentError(
                f"{assignment.folder}: pytest could not run the checks ({status!r})"
            )
        return None


def _arguments(assignment: Assignment, files: list[Path]) -> list[str]:
    return [
        *map(str, files),
        "--json-report-file=none",
        *("--json-report-omit", "log", "streams", "keywords"),  # there are none
        "--import-mode=importlib",
        "--tb=native",  # pytest's own parses the source of each frame
        f"--rootdir={assignment.folder.parent.parent}",
        f"--confcutdir={assignment.folder}",
        "--noconftest",
        "--strict-markers",
        *("-c", os.devnull),
        *("-p", "no:cacheprovider"),
        *("-p", "pytest_metadata.plugin"),
        *("-p", "pytest_jsonreport.plugin"),
        *(word for name in _UNUSED for word in ("-p", f"no:{name}")),
    ]


def _forget(files: list[Path]) -> None:
    """Let the checks be read again the next time: pytest keeps modules by name for the process."""
    paths = set(map(str, files))
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in paths:
            del sys.modules[name]


def _verdicts(assignment: Assignment, report: dict[str, Any]) -> tuple[Check, ...]:
    """The checks that a report tells of, by part, then case."""
    found = [_verdict(test) for test in report["tests"]]
    parts = [part.name for part in assignment.parts]
    cases = [case.name for case in assignment.cases]
    return tuple(sorted(found, key=lambda c: (parts.index(c.part), cases.index(c.case))))


def _verdict(test: dict[str, Any]) -> Check:
    """One check from one test of the report."""
    facts = test["metadata"][NOTE]
    fraction = facts.pop("fraction", 0.0)
    status = _status(test, fraction, fault=facts.pop("fault", False))
    earned = facts["points"] * fraction if status in ("passed", "partial") else 0.0
    message = facts.pop("message", None)
    probes = tuple(facts.pop("probes", ()))
    if status == "passed":
        facts["hint"] = None
    return Check(**facts, earned=earned, status=status, message=message, probes=probes)


def _status(test: dict[str, Any], fraction: float, *, fault: bool) -> CheckStatus:
    outcome = test["outcome"]
    if outcome == "passed":
        return "passed" if fraction == 1 else "error"  # credit was asked for and never given
    if outcome == "skipped":
        return "not_run"
    if fault and (outcome == "failed" or fraction == 0):
        return "partial" if fraction > 0 else "failed"
    return "error"
