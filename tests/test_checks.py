"""Checks: how pytest's outcomes become verdicts and points, on runs made by hand."""

from __future__ import annotations

import itertools
import os
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from grader import score
from grader.asked import OUTPUT
from grader.assignment import load
from grader.checks import Checker, check
from grader.records import Assignment, AssignmentError, Check, Grade, Run, Submission

_names = map("lab_{}".format, itertools.count())  # a module of checks is imported once a process
REFERENCE = {"a": 1, "b": 2, "t": torch.tensor([1.0, 2.0])}
ALL_RIGHT = "def test_all(student, reference):\n    assert student['a'] == reference['a']\n"
Make = Callable[..., Assignment]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a lab from the source of its checks, with the cases public (0.25) and hidden (0.75)."""
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))

    def made(
        source: str | None = None,
        hidden_source: str | None = None,
        parts: Mapping[str, float] | None = None,
        **options: Any,
    ) -> Assignment:
        name = next(_names)
        folder, solutions = tmp_path / "assignments" / name, tmp_path / "solutions" / name
        for place in (folder, solutions, tmp_path / "assignments" / "course"):
            place.mkdir(parents=True, exist_ok=True)
        head = 'version = 1\ntitle = "A lab"\nfile = "lab.py"\n'
        head += "[limits]\nseconds = 5\nmemory_mb = 100\n"
        for part, points in (parts or {"one": 8}).items():
            head += f'[[parts]]\nname = "{part}"\ntitle = "{part}"\npoints = {points}\n'
        cases = '[[cases]]\nname = "{0}"\nbundle = "tiny"\nshare = {1}\n'
        (folder / "probes.py").write_text("", "utf-8")
        (folder / "assignment.toml").write_text(head + cases.format("public", 0.25), "utf-8")
        (solutions / "cases.toml").write_text(cases.format("hidden", 0.75), "utf-8")
        for path, text in (
            (folder / "test_public.py", source),
            (solutions / "test_hidden.py", hidden_source),
        ):
            if text is not None:
                path.write_text("import pytest\n" + textwrap.dedent(text), "utf-8")
        return load(name, **options)

    return made


def _run(case: str, status: Any = "ok", message: str | None = None, **values: Any) -> Run:
    return Run(case, status, message, values or dict(REFERENCE))


def _judge(assignment: Assignment, *runs: Run) -> list[Check]:
    """The checks of a submission; the reference's answers where no run is given."""
    known = {case.name: Run(case.name, "ok", None, REFERENCE) for case in assignment.cases}
    given = {run.case: run for run in runs}
    complete = tuple(given.get(case, known[case]) for case in known)
    checks, report = check(assignment, known, complete)
    assert {test["outcome"] for test in report["tests"]}
    assert sum(one.points for one in checks) == pytest.approx(assignment.possible)
    assert all(0 <= one.earned <= one.points for one in checks)
    return list(checks)


def _grade(assignment: Assignment, checks: list[Check]) -> Grade:
    return score.total(assignment, Submission("ada", {}, "lab.py"), (), tuple(checks))


def _told(checks: list[Check], case: str = "public") -> dict[str, tuple[str, float]]:
    """Status and points earned by name, in one case."""
    return {one.name: (one.status, one.earned) for one in checks if one.case == case}


def _sentence(assignment: Assignment, *runs: Run) -> str:
    with pytest.raises(AssignmentError) as caught:
        _judge(assignment, *runs)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


# Statuses and points ------------------------------------------------------------------------------


def test_every_status(make: Make) -> None:
    assignment = make(
        """
        @pytest.mark.part("one", hint="Look here.")
        def test_passed(student, reference):
            "It is the same."
            assert student["a"] == reference["a"]

        @pytest.mark.part("one", hint="Look here.")
        def test_failed(student):
            assert student["a"] == 5, "it is not 5"

        @pytest.mark.part("one")
        def test_partial(student, credit):
            with credit.item():
                assert student["a"] == 1
            with credit.item(3):
                assert student["a"] == 2, "the second"

        @pytest.mark.part("one")
        def test_partial_of_nothing(student, credit):
            with credit.item():
                assert False, "nothing"

        @pytest.mark.part("one")
        def test_full_credit(student, credit):
            for weight in (1, 0.5, 2):
                with credit.item(weight):
                    pass

        @pytest.mark.part("one")
        def test_error(student):
            return 1 / 0

        @pytest.mark.part("one")
        def test_not_run(student):
            pytest.skip("not today")

        @pytest.mark.part("one")
        def test_credit_never_used(student, credit):
            pass
        """
    )
    checks = _judge(assignment)
    point = 8 * 0.25 / 8
    assert _told(checks) == {
        "passed": ("passed", point),
        "failed": ("failed", 0),
        "partial": ("partial", point / 4),
        "partial_of_nothing": ("failed", 0),
        "full_credit": ("passed", point),
        "error": ("error", 0),
        "not_run": ("not_run", 0),
        "credit_never_used": ("error", 0),
    }
    assert {name: earned * 3 for name, (_, earned) in _told(checks).items()} == pytest.approx(
        {name: earned for name, (_, earned) in _told(checks, "hidden").items()}
    )
    by_name = {one.name: one for one in checks if one.case == "public"}
    assert by_name["passed"].asked == "It is the same."
    assert (by_name["passed"].message, by_name["passed"].hint) == (None, None)
    assert by_name["failed"].hint == "Look here."
    assert "it is not 5" in str(by_name["failed"].message)
    assert by_name["partial"].message is not None
    assert by_name["partial"].message.startswith("the second")
    assert "division by zero" in str(by_name["error"].message)
    assert [one.hidden for one in checks] == [one.case == "hidden" for one in checks]
    assert _grade(assignment, checks).review


def test_all_right_needs_no_person(make: Make) -> None:
    assignment = make('@pytest.mark.part("one")\n' + ALL_RIGHT)
    grade = _grade(assignment, _judge(assignment))
    assert grade.points == grade.possible == 8
    assert not grade.review


def test_failure_needs_no_person(make: Make) -> None:
    assignment = make('@pytest.mark.part("one")\n' + ALL_RIGHT)
    grade = _grade(assignment, _judge(assignment, _run("public", a=2)))
    assert (grade.points, grade.review) == (6, False)


def test_weights_share_a_part_out(make: Make) -> None:
    assignment = make(
        """
        @pytest.mark.part("one", weight=3)
        def test_heavy(student):
            pass

        @pytest.mark.part("one")
        def test_light(student):
            pass

        @pytest.mark.part("one", weight=0)
        def test_worth_nothing(student):
            assert student["a"] == 7

        @pytest.mark.part("two")
        @pytest.mark.parametrize("n", [1, 2])
        def test_asked_twice(student, n):
            assert n == student["a"]
        """,
        parts={"one": 8, "two": 4},
    )
    checks = _judge(assignment)
    points = {(one.name, one.case): one.points for one in checks}
    assert points["heavy", "public"] == pytest.approx(1.5)
    assert points["light", "public"] == pytest.approx(0.5)
    assert points["heavy", "hidden"] == pytest.approx(4.5)
    assert _told(checks)["worth_nothing"] == ("failed", 0)
    assert [(one.points, one.earned) for one in checks if one.name == "asked_twice"] == [
        (0.5, 0.5), (0.5, 0), (1.5, 1.5), (1.5, 0),
    ]  # fmt: skip


def test_part_worth_nothing(make: Make) -> None:
    source = '@pytest.mark.part("two")\ndef test_b(student):\n    assert student["b"] == 2\n'
    assignment = make('@pytest.mark.part("one")\n' + ALL_RIGHT + source, parts={"one": 8, "two": 0})
    checks = _judge(assignment)
    assert _told(checks)["b"] == ("passed", 0)
    assert [one.part for one in checks] == ["one", "one", "two", "two"]


def test_checks_stand_in_the_order_of_parts_then_cases(make: Make) -> None:
    source = "".join(
        f'@pytest.mark.part("{part}")\ndef test_{name}(student):\n    pass\n'
        for part, name in (("two", "a"), ("one", "z"), ("two", "b"), ("one", "y"))
    )
    checks = _judge(make(source, parts={"one": 1, "two": 2}))
    assert [(one.part, one.case, one.name) for one in checks] == [
        ("one", "public", "z"), ("one", "public", "y"),
        ("one", "hidden", "z"), ("one", "hidden", "y"),
        ("two", "public", "a"), ("two", "public", "b"),
        ("two", "hidden", "a"), ("two", "hidden", "b"),
    ]  # fmt: skip


@pytest.mark.parametrize("weight", ["-1", "float('nan')"])
def test_weight_that_is_none_is_the_labs_fault(make: Make, weight: str) -> None:
    mark = f'@pytest.mark.part("one", weight={weight})\n'
    source = mark + ALL_RIGHT + '@pytest.mark.part("one", weight=3)\ndef test_b(student): pass\n'
    assert "weight" in _sentence(make(source))


def test_credit_outside_0_to_1_is_an_error(make: Make) -> None:
    source = "".join(
        f"""
        @pytest.mark.part("one")
        def test_{name}(student, credit):
            with credit.item(2):
                pass
            with credit.item({weight}):
                assert False
        """
        for name, weight in (("less", "-1"), ("nan", "float('nan')"), ("inf", "float('inf')"))
    )
    checks = _judge(make(source))
    assert _told(checks) == {"less": ("error", 0), "nan": ("error", 0), "inf": ("error", 0)}


def test_exception_within_an_item_is_an_error(make: Make) -> None:
    assignment = make(
        """
        @pytest.mark.part("one")
        def test_a(student, credit):
            with credit.item():
                pass
            with credit.item():
                raise KeyError("ours")
        """
    )
    assert _told(_judge(assignment)) == {"a": ("error", 0)}


# What a student's run gives -----------------------------------------------------------------------

TWO = """
@pytest.mark.part("one")
def test_a(student, reference):
    assert student["a"] == reference["a"]

@pytest.mark.part("one")
def test_b(student, reference):
    assert student["b"] == reference["b"]
"""


@pytest.mark.parametrize("status", ["missing", "crashed"])
def test_denominator_is_the_same_whatever_happened(make: Make, status: Any) -> None:
    assignment = make(TWO)
    runs = [Run(case.name, status, "why it ended") for case in assignment.cases]
    checks = _judge(assignment, *runs)
    assert len(checks) == 4
    assert {(one.status, one.earned, one.message) for one in checks} == {
        ("failed", 0, "why it ended")
    }
    grade = _grade(assignment, checks)
    assert (grade.points, grade.possible, grade.review) == (0, 8, False)


def test_answers_before_the_end_count(make: Make) -> None:
    """One probe that hangs costs what it was asked for and no more."""
    run = Run("public", "timeout", "too long", {"a": 1}, {"b": "it ran longer than 5 s"})
    checks = _judge(make(TWO), run)
    assert _told(checks) == {"a": ("passed", 1), "b": ("failed", 0)}
    assert [one.message for one in checks if one.name == "b" and not one.hidden] == [
        "it ran longer than 5 s\ntoo long"
    ]


def test_missing_answer_without_a_reason(make: Make) -> None:
    checks = _judge(make(TWO), _run("public", a=1))
    assert [one.message for one in checks if one.status == "failed"] == ["no answer"]


def test_missing_answer_in_the_reference_is_the_labs_fault(make: Make) -> None:
    assignment = make(TWO.replace('reference["b"]', 'reference["c"]'))
    checks = _judge(assignment)
    assert _told(checks) == {"a": ("passed", 1), "b": ("error", 0)}
    assert "no answer to the probe 'c'" in str(checks[1].message)


def test_output_is_there_as_text_and_lines(make: Make) -> None:
    assignment = make(
        """
        @pytest.mark.part("one")
        def test_lines(student):
            assert student.output == " 1 \\n\\n2"
            assert student.lines == ["1", "2"]
            assert sorted(student) == ["a"]
            assert len(student) == 1
        """
    )
    run = Run("public", "ok", None, {"a": 1}, output=" 1 \n\n2")
    assert _told(_judge(assignment, run))["lines"][0] == "passed"


# Set-ups that fail --------------------------------------------------------------------------------


def test_failing_set_up_spoils_its_own_checks_alone(make: Make) -> None:
    assignment = make(
        """
        @pytest.fixture
        def broken():
            raise RuntimeError("set-up")

        @pytest.fixture
        def asserting():
            assert False, "ours too"

        @pytest.fixture
        def untidy():
            yield 1
            raise RuntimeError("tear-down")

        class TestSetUp:
            @classmethod
            def setup_class(cls):
                raise RuntimeError("class")

            @pytest.mark.part("one")
            def test_in_class(self, student):
                pass

            @pytest.mark.part("one")
            def test_in_class_too(self, student):
                pass

        @pytest.mark.part("one")
        def test_broken(student, broken):
            pass

        @pytest.mark.part("one")
        def test_asserting(student, asserting):
            pass

        @pytest.mark.part("one")
        def test_untidy(student, untidy):
            pass

        @pytest.mark.part("one")
        def test_no_such_fixture(student, nowhere):
            pass

        @pytest.mark.part("one")
        def test_stands(student):
            pass

        @pytest.mark.part("one")
        def test_fails(student):
            assert False
        """
    )
    checks = _judge(assignment)
    assert _told(checks) == {
        "in_class": ("error", 0),
        "in_class_too": ("error", 0),
        "broken": ("error", 0),
        "asserting": ("error", 0),
        "untidy": ("error", 0),
        "no_such_fixture": ("error", 0),
        "stands": ("passed", 0.25),
        "fails": ("failed", 0),
    }
    assert _grade(assignment, checks).review
    assert {one.message for one in checks if one.name == "broken"} == {"set-up"}


def test_students_fault_in_a_set_up_is_a_failure(make: Make) -> None:
    """A fixture that prepares a student's answer finds none: nobody need look."""
    assignment = make(
        """
        @pytest.fixture
        def prepared(student):
            return student["a"] + 1

        @pytest.mark.part("one")
        def test_a(prepared, reference):
            assert prepared == reference["a"] + 1
        """
    )
    checks = _judge(assignment, Run("public", "timeout", "too long"))
    assert _told(checks) == {"a": ("failed", 0)}
    assert _told(checks, "hidden") == {"a": ("passed", 6)}
    assert not _grade(assignment, checks).review


def test_check_that_ends_python_is_an_error(make: Make) -> None:
    calls = {"exit": "exit(0)", "sys": "__import__('sys').exit(0)", "raise": "raise SystemExit"}
    sources = [
        f'@pytest.mark.part("one")\ndef test_{name}(student):\n    {call}\n'
        for name, call in calls.items()
    ]
    checks = _judge(make("".join([*sources, '@pytest.mark.part("one")\n', ALL_RIGHT])))
    assert _told(checks) == {**dict.fromkeys(calls, ("error", 0)), "all": ("passed", 0.5)}


# Labs that do not load ----------------------------------------------------------------------------


@pytest.mark.parametrize("points", [8, 0])
def test_no_checks_at_all(make: Make, points: float) -> None:
    assignment = make("def helper(student):\n    pass\n", parts={"one": points})
    assert str(assignment.folder) in _sentence(assignment)


def test_no_file_of_checks(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above all, nothing of the working directory is taken in its place."""
    place = tmp_path / "work"
    place.mkdir()
    (place / "test_work.py").write_text(
        "open('was_here', 'w').close()\n@__import__('pytest').mark.part('one')\n" + ALL_RIGHT,
        "utf-8",
    )
    monkeypatch.chdir(place)
    assert "test_public.py" in _sentence(make())
    assert not (place / "was_here").exists()


@pytest.mark.parametrize(
    "mark", ["", '@pytest.mark.part("two")\n', "@pytest.mark.part(name='one')\n"]
)
def test_check_without_a_part(make: Make, mark: str) -> None:
    good = '@pytest.mark.part("one")\ndef test_good(student):\n    pass\n'
    message = _sentence(make(good + mark + ALL_RIGHT))
    assert message.endswith("test_public.py: test_all: mark its part, one of one")


def test_word_of_the_mark_that_is_misspelled(make: Make) -> None:
    assert "wieght" in _sentence(make(f'@pytest.mark.part("one", wieght=2)\n{ALL_RIGHT}'))


def test_part_without_a_check(make: Make) -> None:
    source = '@pytest.mark.part("one")\n' + ALL_RIGHT
    message = _sentence(make(source, parts={"one": 1, "two": 1}))
    assert "no check gives the points of part 'two' in case" in message


def test_part_whose_checks_all_weigh_nothing(make: Make) -> None:
    message = _sentence(make('@pytest.mark.part("one", weight=0)\n' + ALL_RIGHT))
    assert "no check gives the points of part 'one'" in message


def test_part_with_hidden_checks_alone_gives_nothing_in_public(make: Make) -> None:
    source = '@pytest.mark.part("one")\n' + ALL_RIGHT
    hidden = '@pytest.mark.part("two")\ndef test_more(student):\n    pass\n'
    message = _sentence(make(source, hidden, parts={"one": 1, "two": 1}))
    assert "no check gives the points of part 'two' in case 'public'" in message


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def test_all(:\n", "SyntaxError"),
        ("import nowhere_at_all\n", "nowhere_at_all"),
        ("@pytest.mark.prat('one')\ndef test_all(student): pass\n", "prat"),
    ],
)
def test_checks_that_cannot_be_loaded(make: Make, source: str, told: str) -> None:
    message = _sentence(make(source))
    assert "test_public.py" in message
    assert told in message


def test_hidden_checks_that_cannot_be_loaded(make: Make) -> None:
    message = _sentence(make('@pytest.mark.part("one")\n' + ALL_RIGHT, "def test_more(:\n"))
    assert "test_hidden.py" in message
    assert "SyntaxError" in message


# Hidden checks ------------------------------------------------------------------------------------

HIDDEN = '@pytest.mark.part("one")\ndef test_more(student):\n    assert student["a"] == 1\n'


def test_hidden_checks_are_asked_in_hidden_cases_alone(make: Make) -> None:
    checks = _judge(make('@pytest.mark.part("one")\n' + ALL_RIGHT, HIDDEN))
    assert [(one.name, one.case, one.hidden, one.points) for one in checks] == [
        ("all", "public", False, 2),
        ("all", "hidden", True, 3),
        ("more", "hidden", True, 3),
    ]


@pytest.mark.parametrize("options", [{"case": "public"}, {"public": True}])
def test_hidden_checks_are_left_out_of_public_cases(make: Make, options: dict[str, Any]) -> None:
    assignment = make('@pytest.mark.part("one")\n' + ALL_RIGHT, HIDDEN, **options)
    assert [(one.name, one.case) for one in _judge(assignment)] == [("all", "public")]


# Nothing steers the checks ------------------------------------------------------------------------

EVIL_CONFTEST = """
import pathlib
import pytest
pathlib.Path(__file__).with_name("was_here").touch()

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"

@pytest.fixture(autouse=True)
def skip_all():
    pytest.skip("all")
"""
EVIL_INI = "[pytest]\naddopts = --collect-only -k nothing\npython_functions = other_*\n"


def test_files_beside_the_lab_and_in_the_working_directory_are_not_loaded(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = make(TWO)
    work = tmp_path / "work"
    work.mkdir()
    assert assignment.solutions is not None
    places = (tmp_path, tmp_path / "assignments", assignment.folder, assignment.solutions, work)
    for place in places:
        (place / "conftest.py").write_text(EVIL_CONFTEST, "utf-8")
        for name in ("pytest.ini", "tox.ini", ".pytest.ini"):
            (place / name).write_text(EVIL_INI, "utf-8")
        (place / "setup.cfg").write_text(EVIL_INI.replace("[pytest]", "[tool:pytest]"), "utf-8")
        (place / "pyproject.toml").write_text(
            '[tool.pytest.ini_options]\naddopts = "--collect-only"\n', "utf-8"
        )
        (place / "evil_plugin.py").write_text(EVIL_CONFTEST, "utf-8")
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(str(work))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -p evil_plugin -k nothing")
    monkeypatch.setenv("PYTEST_PLUGINS", "evil_plugin")
    checks = _judge(assignment, _run("public", a=1, b=5))
    assert _told(checks) == {"a": ("passed", 1), "b": ("failed", 0)}
    assert not list(tmp_path.rglob("was_here"))
    assert not list(work.glob(".pytest_cache"))


def test_checks_leave_the_process_as_it_was(
    make: Make, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-q")
    assignment = make('@pytest.mark.part("one")\ndef test_print(student):\n    print("loud")\n')
    here = Path.cwd()
    _judge(assignment)
    _sentence(make(ALL_RIGHT))
    assert Path.cwd() == here
    assert os.environ["PYTEST_ADDOPTS"] == "-q"
    assert capfd.readouterr() == ("", "")


def test_one_submission_after_another(make: Make) -> None:
    assignment = make(TWO)
    for answer, status in ((1, "passed"), (2, "failed"), (1, "passed")):
        assert _told(_judge(assignment, _run("public", a=answer, b=2)))["a"][0] == status


def test_changed_checks_are_read_again(make: Make) -> None:
    assignment = make(TWO)
    _judge(assignment)
    path = assignment.folder / "test_public.py"
    more = '\n@pytest.mark.part("one")\ndef test_c(student): pass\n'
    path.write_text(path.read_text("utf-8") + more, "utf-8")
    assert set(_told(_judge(assignment))) == {"a", "b", "c"}


def test_what_a_check_asked_for_is_kept(make: Make) -> None:
    assignment = make(
        """
        @pytest.mark.part("one")
        def test_some(student, reference):
            assert student["b"] == reference["a"]

        @pytest.mark.part("one")
        def test_output(student):
            assert not student.lines
            student["a"]

        @pytest.mark.part("one")
        def test_nothing(credit):
            with credit.item():
                pass
        """
    )
    asked = {one.name: one.probes for one in _judge(assignment) if one.case == "public"}
    assert asked == {"some": ("b",), "output": (OUTPUT, "a"), "nothing": ()}


def test_rounds_of_one_session_know_nothing_of_each_other(make: Make) -> None:
    source = """
    @pytest.mark.part("one")
    def test_a(student, reference, credit):
        with credit.item():
            assert student["a"] == reference["a"]
        with credit.item():
            assert student["b"] == reference["b"]

    @pytest.mark.part("one")
    def test_t(student, reference):
        assert student["t"].equal(reference["t"])
    """
    assignment = make(source)
    known = {case.name: Run(case.name, "ok", None, REFERENCE) for case in assignment.cases}
    others = [
        known["public"],
        _run("public", a=1, b=5),
        Run("public", "timeout", "too long"),
        _run("public", a=1, b=2),
        known["public"],
    ]
    rounds = [(run, known["hidden"]) for run in others]
    with Checker(assignment, known) as checker:
        together = [checker.check(runs) for runs in rounds]
    for runs, (found, report) in zip(rounds, together, strict=True):
        alone, its_report = check(assignment, known, runs)
        assert found == alone
        assert report["summary"] == its_report["summary"]
        assert report["exitcode"] == its_report["exitcode"]
    assert len({found for found, _ in together}) == 4


def test_a_session_that_could_not_start_says_so_to_whoever_asks(make: Make) -> None:
    assignment = make("import nothing_of_that_name\n")
    with pytest.raises(AssignmentError, match="cannot be loaded"):
        Checker(assignment, {}).__enter__()


def test_a_traceback_begins_in_the_check(make: Make) -> None:
    source = """
    import grader.compare
    @pytest.mark.part("one")
    def test_all(student, reference):
        grader.compare.within(student["a"], reference["a"], "a", band=0)
    """
    assignment = make(source)
    runs = tuple(Run(case.name, "ok", None, {"a": 2}) for case in assignment.cases)
    known = {case.name: Run(case.name, "ok", None, REFERENCE) for case in assignment.cases}
    _, report = check(assignment, known, runs)
    for test in report["tests"]:
        told = test["call"]["longrepr"]
        first = next(line for line in told.splitlines() if "File" in line)
        assert "test_public.py" in first
        assert "in within" in told
