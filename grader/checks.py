"""Runs a lab's checks: pytest, in the grading process, on values that came out of the sandbox.

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
import inspect
import io
import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from pytest_jsonreport.plugin import JSONReport

from grader import bands, compare
from grader.asked import Credit, StudentFault, Values
from grader.assignment import check_files
from grader.records import Assignment, AssignmentError, Case, Check, CheckStatus, Run

_CREDIT = pytest.StashKey[Credit]()
_FACTS = pytest.StashKey[dict[str, Any]]()
_ALLOWED = pytest.StashKey[list[float]]()
#: Plugins of pytest that checks have no use for and that cost two thirds of a submission's time.
_UNUSED = (
    "unraisableexception", "threadexception", "logging", "junitxml", "pastebin", "stepwise",
    "doctest", "setuponly", "setupplan", "warnings", "faulthandler", "unittest", "debugging",
    "recwarn", "subtests", "capture",
)  # fmt: skip
_NOTE = "grader"  #: where our facts stand in a test's metadata


def check(
    assignment: Assignment, known: Mapping[str, Run], runs: tuple[Run, ...]
) -> tuple[tuple[Check, ...], dict[str, Any]]:
    """Judge a submission's runs.

    Args:
        assignment: whose checks are run.
        known: the reference's run by case.
        runs: the submission's, one for each case.

    Returns:
        The checks in the order of the parts, and pytest-json-report's report.

    Raises:
        AssignmentError: the lab's checks cannot be run as they stand.
    """
    plugin = _Plugin(assignment, known, {run.case: run for run in runs})
    reporter = JSONReport()
    files = check_files(assignment)
    if not files:  # pytest would collect the working directory instead
        raise AssignmentError(f"{assignment.folder}: there is no test_public.py; add the checks")
    arguments = [
        *map(str, files),
        "--json-report-file=none",
        "--import-mode=importlib",
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
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    silent = contextlib.redirect_stdout(io.StringIO())  # the report has it all
    with mock.patch.dict(os.environ, alone), silent, bands.use(assignment.bands):
        status = pytest.main(arguments, plugins=[reporter, plugin])
    _forget(files)
    if plugin.problem is not None:
        raise AssignmentError(plugin.problem)
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise AssignmentError(f"{assignment.folder}: pytest could not run the checks ({status!r})")
    return _verdicts(assignment, reporter.report), reporter.report


def _forget(files: list[Path]) -> None:
    """Let the checks be read again the next time: pytest keeps modules by name for the process."""
    paths = set(map(str, files))
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in paths:
            del sys.modules[name]


class _Plugin:
    """Fixtures, parametrization by case, and the facts that the verdicts need."""

    def __init__(
        self, assignment: Assignment, known: Mapping[str, Run], runs: Mapping[str, Run]
    ) -> None:
        self._assignment = assignment
        self._known = known
        self._runs = runs
        self._parts = {part.name: part for part in assignment.parts}
        self.problem: str | None = None  #: a fault of the lab's files, in a sentence

    @pytest.fixture
    def student(self, case: Case) -> Values:
        """The student's values in the case."""
        return Values(self._runs[case.name], reference=False)

    @pytest.fixture
    def reference(self, case: Case) -> Values:
        """The reference's values in the case."""
        return Values(self._known[case.name], reference=True)

    @pytest.fixture
    def credit(self, request: pytest.FixtureRequest) -> Credit:
        """Partial credit for the test that asks for it."""
        credit: Credit = request.node.stash.setdefault(_CREDIT, Credit())
        return credit

    @pytest.hookimpl
    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "part(name, weight=1, hint=None): whose points it gives")

    @pytest.hookimpl
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Ask every check in each of its cases."""
        if "case" not in metafunc.fixturenames:
            metafunc.fixturenames.append("case")
        cases = self._assignment.cases
        if metafunc.module.__name__.endswith("test_hidden"):
            cases = tuple(case for case in cases if case.hidden)
        metafunc.parametrize("case", cases, ids=[case.name for case in cases])

    @pytest.hookimpl
    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        """Share each part's points out among its checks, by weight, in each case."""
        self.problem = self.problem or self._share_out(items)
        if self.problem:
            items.clear()

    def _share_out(self, items: list[pytest.Function]) -> str | None:
        """Give each check its facts; or a fault of the lab's, in a sentence."""
        totals: dict[tuple[str, str], float] = defaultdict(float)
        for item in items:
            mark = item.get_closest_marker("part")
            name = mark.args[0] if mark and mark.args else None
            if name not in self._parts:
                known = ", ".join(self._parts)
                return f"{item.path}: {item.originalname}: mark its part, one of {known}"
            if other := sorted(set(mark.kwargs if mark else ()) - {"weight", "hint"}):
                return f"{item.path}: {item.originalname}: a mark has no {other[0]!r}; remove it"
            if not (math.isfinite(_weight(item)) and _weight(item) >= 0):
                return f"{item.path}: {item.originalname}: make its weight a number of at least 0"
            totals[name, _case(item).name] += _weight(item)
        for item in items:
            item.stash[_FACTS] = self._facts(item, totals)
        for part in self._parts.values():
            for case in self._assignment.cases:
                if part.points and not totals[part.name, case.name]:
                    return (
                        f"{self._assignment.folder}: no check gives the points of part "
                        f"{part.name!r} in case {case.name!r}"
                    )
        return None

    def _facts(
        self, item: pytest.Function, totals: Mapping[tuple[str, str], float]
    ) -> dict[str, Any]:
        mark = item.get_closest_marker("part")
        part = self._parts[mark.args[0]]  # type: ignore[union-attr]
        case = _case(item)
        total = totals[part.name, case.name]
        return {
            "name": item.originalname.removeprefix("test_"),
            "part": part.name,
            "points": part.points * case.share * _weight(item) / total if total else 0.0,
            "case": case.name,
            "hidden": case.hidden,
            "asked": inspect.cleandoc(item.function.__doc__ or item.originalname),
            "hint": mark.kwargs.get("hint"),  # type: ignore[union-attr]
        }

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.problem is None:
            last = str(report.longrepr).strip().splitlines()[-1].removeprefix("E").strip()
            self.problem = f"{report.nodeid}: the checks cannot be loaded: {last}"

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[Any]:
        with compare.noting() as pyfuncitem.stash[_ALLOWED]:
            result = yield
        credit = pyfuncitem.stash.get(_CREDIT, None)
        if credit is not None and credit.problems:
            raise StudentFault("\n".join(credit.problems))
        return result

    @pytest.hookimpl
    def pytest_json_runtest_metadata(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Put what `_verdict` needs into the report."""
        facts = item.stash[_FACTS]
        if call.when == "call":
            credit = item.stash.get(_CREDIT, None)
            problem = call.excinfo.value if call.excinfo else None
            facts["fraction"] = credit.fraction if credit else float(problem is None)
            facts["fault"] = isinstance(problem, AssertionError)
            student = item.funcargs.get("student")  # type: ignore[attr-defined]
            facts["probes"] = list(student.asked) if isinstance(student, Values) else []
            notes = item.stash.get(_ALLOWED, None)
            facts["allowed"] = max(notes) if notes else None
        elif call.when == "setup" and call.excinfo is not None:
            facts["fault"] = isinstance(call.excinfo.value, StudentFault)
        if call.excinfo is not None:
            facts["message"] = str(call.excinfo.value) or call.excinfo.typename
        return {_NOTE: facts}


def _case(item: pytest.Function) -> Case:
    case = item.callspec.params["case"]
    if not isinstance(case, Case):
        raise TypeError(f"{item.nodeid}: its parameter `case` is not a case of ours")
    return case


def _weight(item: pytest.Item) -> float:
    mark = item.get_closest_marker("part")
    return float(mark.kwargs.get("weight", 1)) if mark else 0.0


def _verdicts(assignment: Assignment, report: dict[str, Any]) -> tuple[Check, ...]:
    """The checks that a report tells of, by part, then case."""
    found = [_verdict(test) for test in report["tests"]]
    parts = [part.name for part in assignment.parts]
    cases = [case.name for case in assignment.cases]
    return tuple(sorted(found, key=lambda c: (parts.index(c.part), cases.index(c.case))))


def _verdict(test: dict[str, Any]) -> Check:
    """One check from one test of the report."""
    facts = test["metadata"][_NOTE]
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
