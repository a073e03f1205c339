"""What pytest is told about a lab's checks: `Plugin`, in which one round is asked after another.

Collecting a lab's tests takes pytest longer than running them. So a session collects them once, and
then runs all of them for each submission; the values that the fixtures give are those of the round.
"""

from __future__ import annotations

import inspect
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeAlias

import pytest
from pytest_jsonreport.plugin import JSONReport

from grader import compare
from grader.asked import Credit, StudentFault, Values
from grader.records import Assignment, Case, Run

#: One round: the runs by case, and what is to be done with pytest-json-report's report of it.
Round: TypeAlias = tuple[Mapping[str, Run], Callable[[dict[str, Any]], None]]

NOTE = "grader"  #: where our facts stand in a test's metadata
_CREDIT = pytest.StashKey[Credit]()
_ALLOWED = pytest.StashKey[list[float]]()
_FACTS = pytest.StashKey[dict[str, Any]]()  #: of a check, whoever is asked
_NOTED = pytest.StashKey[dict[str, Any]]()  #: of a check in this round


class Plugin:
    """Fixtures, parametrization by case, the rounds, and the facts that the verdicts need."""

    def __init__(
        self, assignment: Assignment, known: Mapping[str, Run], rounds: Iterator[Round]
    ) -> None:
        self._assignment = assignment
        self._known = known
        self._rounds = rounds
        self._runs: Mapping[str, Run] = {}
        self._parts = {part.name: part for part in assignment.parts}
        self.reporter = JSONReport()  #: another plugin of the session
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
    def pytest_internalerror(self, excrepr: object) -> None:
        """Keep the reason."""
        last = str(excrepr).strip().splitlines()[-1]
        self.problem = self.problem or f"{self._assignment.folder}: pytest failed: {last}"

    @pytest.hookimpl
    def pytest_configure(self, config: pytest.Config) -> None:
        """Say what marks there are."""
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
        """Keep the reason why a file cannot be loaded."""
        if report.failed and self.problem is None:
            last = str(report.longrepr).strip().splitlines()[-1].removeprefix("E").strip()
            self.problem = f"{report.nodeid}: the checks cannot be loaded: {last}"

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all checks for each round."""
        if self.problem or not session.items:
            return None
        plugins = session.config.pluginmanager
        plugins.unregister(plugins.getplugin("terminalreporter"))  # it keeps every report
        for runs, done in self._rounds:
            self._runs = runs
            self.reporter.__init__(session.config)  # begins a new report
            self.reporter.pytest_sessionstart(session)
            self._run_all(session)
            self.reporter.pytest_sessionfinish(session)
            done(self.reporter.report)
        return True

    def _run_all(self, session: pytest.Session) -> None:
        session.testsfailed = 0
        items = session.items
        for item, following in zip(items, [*items[1:], None], strict=True):
            if _CREDIT in item.stash:
                del item.stash[_CREDIT]
            if _ALLOWED in item.stash:
                del item.stash[_ALLOWED]
            facts: dict[str, Any] = item.stash[_FACTS]
            item.stash[_NOTED] = {**facts}
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        failed = session.testsfailed > 0
        session.exitstatus = pytest.ExitCode.TESTS_FAILED if failed else pytest.ExitCode.OK

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[Any]:
        """Let the items of credit that were lost fail the check."""
        with compare.noting() as pyfuncitem.stash[_ALLOWED]:
            result = yield
        credit = pyfuncitem.stash.get(_CREDIT, None)
        if credit is not None and credit.problems:
            raise StudentFault("\n".join(credit.problems))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[Any]:
        """Tell of what went wrong in the check, and not of the twenty calls that led there."""
        if call.excinfo is not None:
            problem = call.excinfo.value
            trace: TracebackType | None = call.excinfo.tb
            while trace and trace.tb_frame.f_code.co_filename != str(item.path):
                trace = trace.tb_next
            if trace:
                found = (type(problem), problem.with_traceback(trace), trace)
                call.excinfo = pytest.ExceptionInfo.from_exc_info(found)
        return (yield)

    @pytest.hookimpl
    def pytest_json_runtest_metadata(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Put what `_verdict` needs into the report."""
        facts = item.stash[_NOTED]
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
        return {NOTE: facts}


def _case(item: pytest.Function) -> Case:
    case = item.callspec.params["case"]
    if not isinstance(case, Case):
        raise TypeError(f"{item.nodeid}: its parameter `case` is not a case of ours")
    return case


def _weight(item: pytest.Item) -> float:
    mark = item.get_closest_marker("part")
    return float(mark.kwargs.get("weight", 1)) if mark else 0.0
