"""Diagnoses: each known mistake is named where it was made, and nothing is said that is unsure."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from rich.console import Console

from conftest import ROOT
from grader import batch, general, render
from grader.asked import OUTPUT
from grader.assignment import load
from grader.diagnose import diagnose
from grader.feedback import feedback
from grader.home import labs
from grader.leaves import CLOSE, leaves
from grader.mistakes import Mistakes, compared
from grader.printed import printed, printed_difference
from grader.records import Check, Grade, Run, Submission
from grader.runner import Runner

ROWS = torch.randn(40, 6, generator=torch.Generator().manual_seed(1))
OURS = {"mean": ROWS, "count": 5000, "chosen": "mean 0", "parts": {"a": ROWS, "b": 2 * ROWS}}


def _runs(output: str = "", **values: Any) -> dict[str, Run]:
    """A run in two cases: the reference's answers but for those given."""
    return {
        case: Run(case, "ok", None, {**OURS, **values}, output=output)
        for case in ("public", "hidden")
    }


def _checks(*probes: str, passed: str = "") -> tuple[Check, ...]:
    """A lost check for each probe and case, in the parts' order, and passed ones."""
    return tuple(
        Check(
            probe, "one", 1.0, float(probe in passed), "passed" if probe in passed else "failed",
            case, case == "hidden", "It is right.", None, None, probes=(probe,),
        )
        for probe in [*probes, *passed.split()]
        for case in ("public", "hidden")
    )  # fmt: skip


def _known(**mistakes: Mapping[str, Run]) -> Mistakes:
    """Known mistakes by their runs; each loses every check."""
    expected = _runs("1 2 3")
    differences = {name: compared(runs, expected) for name, runs in mistakes.items()}
    every = frozenset((check.name, check.case) for check in _checks(*OURS, OUTPUT))
    told = {name: f"You did {name}." for name in mistakes}
    return Mistakes(told, lambda: differences, lambda: dict.fromkeys(told, every))


def _names(checks: tuple[Check, ...], runs: Mapping[str, Run], known: Mistakes) -> list[str | None]:
    found = diagnose(checks, _runs("1 2 3"), tuple(runs.values()), known)
    assert [one.name for one in found] == [one.name for one in checks]
    assert [one.earned for one in found] == [one.earned for one in checks]
    return [one.mistake for one in found]


# Known mistakes -----------------------------------------------------------------------------------


def test_a_mistake_is_named_in_every_check_and_told_in_the_first() -> None:
    wrong = {"mean": ROWS + ROWS**2, "parts": {"a": ROWS**2, "b": 2 * ROWS}}
    mine = {"mean": wrong["mean"] + 2e-6, "parts": wrong["parts"]}
    checks = diagnose(
        _checks("mean", "parts"),
        _runs(),
        tuple(_runs(**mine).values()),
        _known(pads=_runs(**wrong)),
    )
    assert [check.mistake for check in checks] == ["pads"] * 4
    assert [check.diagnosis is not None for check in checks] == [True, False, False, False]
    told = checks[0].diagnosis or ""
    assert told.startswith("You did pads. Evidence: ")
    assert "within 2e-06" in told


def test_nothing_is_said_where_nothing_is_lost() -> None:
    known = Mistakes({}, lambda: pytest.fail("they were run"), dict)
    checks = _checks(passed="mean count")
    assert diagnose(checks, _runs(), tuple(_runs().values()), known) == checks


def test_a_passed_check_gets_no_mistake() -> None:
    known = _known(pads=_runs(mean=ROWS**2))
    names = _names(_checks("mean", passed="count"), _runs(mean=ROWS**2), known)
    assert names == ["pads", "pads", None, None]


def test_a_value_that_is_nobodys_gets_nothing() -> None:
    known = _known(pads=_runs(mean=ROWS**2))
    assert _names(_checks("mean"), _runs(mean=ROWS**3), known) == [None, None]


def test_a_mistake_must_show_in_every_case() -> None:
    runs = {**_runs(count=7000), "hidden": _runs(count=6000)["hidden"]}
    known = _known(pads=_runs(count=7000))
    assert _names(_checks("count"), runs, known) == [None, None]
    assert _names(_checks("count"), _runs(count=7000), known) == ["pads", "pads"]


def test_one_word_in_one_case_is_no_certainty() -> None:
    known = _known(pads=_runs(chosen="cls"))
    one = tuple(check for check in _checks("chosen") if check.case == "public")
    assert _names(one, _runs(chosen="cls"), known) == [None]
    assert _names(_checks("chosen"), _runs(chosen="cls"), known) == ["pads", "pads"]


def test_a_few_words_say_nothing_where_something_else_is_unexplained() -> None:
    known = _known(pads=_runs(chosen="cls"))
    names = _names(_checks("chosen", "mean"), _runs(chosen="cls", mean=ROWS**3), known)
    assert names == [None] * 4


def test_a_mistake_is_ruled_out_by_a_right_answer() -> None:
    known = _known(pads=_runs(count=7000, mean=ROWS**2))
    checks = _checks("count", passed="mean")
    assert _names(checks, _runs(count=7000), known) == [None] * 4


def test_mistakes_that_cannot_be_told_apart_are_both_told() -> None:
    known = _known(pads=_runs(mean=ROWS**2), sums=_runs(mean=ROWS**2))
    checks = diagnose(_checks("mean"), _runs(), tuple(_runs(mean=ROWS**2).values()), known)
    assert {check.mistake for check in checks} == {"pads or sums"}
    assert (checks[0].diagnosis or "").startswith("Either: You did pads.")


def test_the_mistake_that_explains_more_is_told() -> None:
    known = _known(pads=_runs(mean=ROWS**2), both=_runs(mean=ROWS**2, count=7000))
    mine = _runs(mean=ROWS**2, count=7000)
    assert _names(_checks("mean", "count"), mine, known) == ["both"] * 4
    assert _names(_checks("mean", passed="count"), _runs(mean=ROWS**2), known)[:2] == ["pads"] * 2


def test_two_mistakes_in_one_answer_and_in_two() -> None:
    one = _known(
        pads=_runs(parts={"a": ROWS**2, "b": 2 * ROWS}), cls=_runs(parts={"a": ROWS, "b": ROWS**3})
    )
    mixed = _runs(parts={"a": ROWS**2, "b": ROWS**3})
    assert _names(_checks("parts"), mixed, one) == ["pads and cls"] * 2
    two = _known(pads=_runs(mean=ROWS**2), special=_runs(count=7000))
    mixed = _runs(mean=ROWS**2, count=7000)
    assert _names(_checks("mean", "count"), mixed, two) == ["pads", "pads", "special", "special"]


def test_a_mistake_that_does_not_lose_a_check_does_not_explain_it() -> None:
    known = _known(pads=_runs(mean=ROWS**2))
    known = Mistakes(
        known.told,
        known.differences,
        lambda: {name: frozenset({("mean", "hidden")}) for name in known.told},
    )
    assert _names(_checks("mean"), _runs(mean=ROWS**2), known) == [None, "pads"]


def test_what_the_checks_allow_says_how_near_a_mistake_is() -> None:
    decayed = ROWS * (1 - 2e-5)  # nowhere further off than what is the same by default
    expected, runs = _runs(), _runs(mean=decayed)
    mine = _runs(mean=decayed + 2e-7)

    def names(**near: float) -> set[str | None]:
        differences = {"decay": compared(runs, expected, near=near)}
        known = Mistakes(
            {"decay": "You did decay."}, lambda: differences, _known(decay=runs).lost,
            near=lambda: near,
        )  # fmt: skip
        return set(_names(_checks("mean"), mine, known))

    assert (decayed - ROWS).abs().max() < CLOSE
    assert names() == {None}
    assert names(mean=1e-6) == {"decay"}
    assert names(mean=1e-8) == {None}


def test_what_is_printed_shows_a_mistake() -> None:
    known = _known(pads=_runs("1 2 0.738"))
    checks = _checks(OUTPUT)
    assert _names(checks, _runs("so: 0.7381, 1, 2"), known) == ["pads"] * 2
    assert _names(checks, _runs("cosine 0.7381, 1, 2"), known) == ["pads"] * 2
    assert _names(checks, _runs("cosine 0.74, 1, 2"), known) == [None] * 2
    assert _names(checks, _runs("cosine 0.738, 1, 2, 3"), known) == [None] * 2


def test_a_number_in_a_wrong_place_shows_with_the_rest() -> None:
    difference = printed_difference(printed("1 2 2"), printed("1 2 3"))
    assert difference is not None
    assert difference.odds == 0
    assert difference.made(printed("2 and 1")) == 0
    assert difference.made(printed("1")) is None
    assert printed_difference(printed("x 1.50"), printed("x 1.5")) is None


# General ones -------------------------------------------------------------------------------------


def _general(mine: object, ours: object) -> str | None:
    found = general.mistake(leaves(mine), leaves(ours))  # type: ignore[arg-type]
    return found and found[0]


ONE_OFF = ROWS.index_put((torch.tensor(7),), torch.tensor(9.0))


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("transposed", ROWS.T),
        ("scaled", 3 * ROWS),
        ("scaled", ROWS / 16),
        ("shifted", ROWS + 0.5),
        ("other_order", ROWS.flip(0)),
        ("other_order", ROWS.roll(1, 0)),
        ("normalized_again", torch.nn.functional.normalize(ROWS)),
        ("normalized_again", ROWS.softmax(1)),
        ("other_dtype", ROWS.bfloat16()),
        ("other_dtype", ROWS.bfloat16().float()),
        ("last_batch_dropped", ROWS[:32]),
        ("one_row_wrong", ONE_OFF),
        (None, ROWS[:31]),
        (None, ROWS[1:]),
        (None, ROWS**2),
        (None, torch.zeros_like(ROWS)),
        (None, torch.full_like(ROWS, torch.nan)),
        (None, ROWS + 1e-3 * torch.arange(40.0)[:, None]),
        (None, ROWS.where(torch.arange(40)[:, None] > 1, 0.0)),
        (None, "text"),
    ],
)
def test_general_mistakes(name: str | None, mine: object) -> None:
    assert _general(mine, ROWS) == name
    assert _general({"shape": list(getattr(mine, "shape", [])), "rows": mine},
                    {"shape": [40, 6], "rows": ROWS}) == name  # fmt: skip


def test_percent_for_fraction() -> None:
    assert _general([81.25, 90.0], [0.8125, 0.9]) == "percent"
    assert _general("66.67", 2 / 3) == "percent"
    assert _general(81.2, 0.8125) is None
    assert _general(0.8, 0.8125) is None
    assert _general({"a": 81.25, "b": 0.5}, {"a": 0.8125, "b": 0.9}) is None


def test_few_numbers_say_nothing_in_general() -> None:
    assert _general(2 * ROWS[0, :4], ROWS[0, :4]) is None
    assert _general(torch.ones(9, 9) * 2, torch.ones(9, 9)) is None


def test_a_general_mistake_says_no_figures_of_a_hidden_case() -> None:
    runs = tuple(_runs(mean=3 * ROWS).values())
    public, hidden = diagnose(_checks("mean"), _runs(), runs, _known())
    assert public.mistake == hidden.mistake == "scaled"
    assert "by 3" in (public.diagnosis or "")
    assert hidden.diagnosis is None
    (alone,) = diagnose(_checks("mean")[1:], _runs(), runs, _known())
    assert alone.diagnosis
    assert not any(letter.isdigit() for letter in alone.diagnosis)


def test_a_known_mistake_goes_before_a_general_one() -> None:
    assert _names(_checks("mean"), _runs(mean=3 * ROWS), _known(pads=_runs(mean=3 * ROWS))) == [
        "pads", "pads",
    ]  # fmt: skip


# The labs' own files ------------------------------------------------------------------------------


def _mistakes(grade: Grade) -> set[str | None]:
    return {check.mistake for check in grade.checks if check.status != "passed"}


def test_each_wrong_file_is_named_by_its_own_mistake(graded: dict[str, Grade]) -> None:
    for name, grade in graded.items():
        if name.startswith("wrong/"):
            assert _mistakes(grade) == {name.removeprefix("wrong/")}
            assert len([check for check in grade.checks if check.diagnosis]) == 1, name


def test_no_right_file_and_no_stub_gets_a_diagnosis(graded: dict[str, Grade]) -> None:
    for name, grade in graded.items():
        if not name.startswith("wrong/"):
            assert not [check for check in grade.checks if check.mistake or check.diagnosis], name


def test_no_right_value_reads_as_a_general_mistake(graded: dict[str, Grade]) -> None:
    """Not even if all checks of it were lost."""
    ours = {run.case: run for run in graded["reference"].runs}
    for name, grade in graded.items():
        if name.startswith("right/"):
            lost = [*_lost(grade.checks)]
            found = diagnose(tuple(lost), ours, grade.runs, _known())
            assert not [check for check in found if check.mistake], name


def _lost(checks: tuple[Check, ...]) -> list[Check]:
    return [Check(**{**vars(check), "status": "failed"}) for check in checks]


def _edited(lab: str, file: str, *edits: tuple[str, str]) -> bytes:
    text = (ROOT / "solutions" / lab / file).read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text.encode()


MIXED = {
    "pieces": (
        "wrong/special_tokens_counted.py",
        [("len(tokenize(text)) for", "len(text.split()) for")],
        {"special_tokens_counted", "split_on_spaces"},
    ),
    "random_bert": (
        "wrong/first_token.py",
        [("torch.manual_seed(42)\nrandom", "random")],
        {"first_token", "no_seed"},
    ),
    "layers": (
        "wrong/mean_over_pads.py",
        [
            ("generator=generator)", "generator=generator.manual_seed(42))"),
            ("batches(df, 64)", "batches(df, 24)"),
        ],
        {"mean_over_pads", "one_permutation"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("lab", labs())
def test_a_mixed_submission_gets_both_of_its_mistakes(lab: str, runner: Runner) -> None:
    file, edits, expected = MIXED[lab]
    assignment = load(lab)
    submission = Submission("ada", {assignment.file: _edited(lab, file, *edits)}, assignment.file)
    ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    named = {name for both in _mistakes(grade) if both for name in both.split(" and ")}
    assert named == expected
    told = [check.diagnosis for check in grade.checks if check.diagnosis]
    assert len(told) == 2
    stream = io.StringIO()
    shown = feedback(assignment, grade, submission)
    render.print_feedback(Console(file=stream, width=2000), shown)
    for text in (stream.getvalue(), render.page("feedback.md", shown)):
        for sentence in told:
            assert text.count(sentence) == 1, sentence
    page = render.page("feedback.html", shown)
    assert page.count("What was done") == 2


def test_a_students_copy_tells_general_mistakes(runner: Runner) -> None:
    """It has no solutions, so the known ones are not there."""
    assignment = load("layers", public=True)
    content = _edited("layers", "wrong/percent.py")
    submission = Submission("ada", {assignment.file: content}, assignment.file)
    ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    assert _mistakes(grade) - {None} == {"percent"}
    assert sum(check.diagnosis is not None for check in grade.checks) == 1
