"""What the checks of the lab `contract` make of printed lines and of strange answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader import checks, store
from grader.assignment import load
from grader.known import expected_path
from grader.records import Assignment, Run

LINES = {"line_right", "line_wrong"}


class Contract:
    """The public case, whose checks judge the reference's values with others in their place."""

    def __init__(self) -> None:
        loaded = load("contract")
        self.assignment: Assignment = replace(
            loaded, cases=tuple(case for case in loaded.cases if not case.hidden)
        )
        (self.case,) = self.assignment.cases
        self.run: Run = store.load_run(expected_path(loaded, self.case))
        self.values: dict[str, Any] = dict(self.run.values)
        self.right, self.wrong = (self.values["results"][name] for name in ("right", "wrong"))

    def lost(self, output: str | None = None, **values: Any) -> set[str]:
        """The checks that a submission with this output, and these other values, loses."""
        output = self.run.output if output is None else output
        mine = replace(self.run, output=output, values={**self.values, **values})
        found, _ = checks.check(self.assignment, {self.case.name: self.run}, (mine,))
        assert {check.status for check in found} <= {"passed", "partial", "failed"}
        return {check.name.removeprefix("test_") for check in found if check.status != "passed"}


@pytest.fixture(scope="module")
def lab() -> Contract:
    return Contract()


def _lines(lab: Contract, row: Callable[[float, float, bool], str]) -> str:
    return "\n".join([row(*lab.right, True), row(*lab.wrong, False)])


RIGHT: dict[str, Callable[[float, float, bool], str]] = {
    "plain": lambda a, p, t: f"{a:.4f} {p:.3f} {t}",
    "labelled": lambda a, p, t: f"accuracy={a:.4f}, p={p:.4f}, from_tokenizer={t}",
    "verdict first": lambda a, p, t: f"{t}: {a} {p}",
    "percent": lambda a, p, t: f"{a:.2%} {p:.1%} {t}",
    "a print for each": lambda a, p, t: f"{a:.4f}\n{p:.3f}\n{t}",
    "under a title": lambda a, p, t: f"ids {t}\n\n  accuracy {a:.4f}\n  top {p:.3f}",
    "a tensor's": lambda a, p, t: f"[{a:.4f}, {p:.4f}] tensor({t})",
    "lower case": lambda a, p, t: f"| {a:.5f} | {p:.5f} | {str(t).lower()} |",
    "how many too": lambda a, p, t: f"83 queries: {a:.4f} {p:.3f} {t}",
}

WRONG: dict[str, Callable[[float, float, bool], str]] = {
    "nothing": lambda *_: "",
    "no verdict": lambda a, p, _: f"{a:.4f} {p:.3f}",
    "both verdicts": lambda a, p, _: f"{a:.4f} {p:.3f} True False",
    "the other verdict": lambda a, p, t: f"{a:.4f} {p:.3f} {not t}",
    "probability first": lambda a, p, t: f"{p:.3f} {a:.4f} {t}",
    "no probability": lambda a, _, t: f"{a:.4f} {t}",
    "probability to a decimal": lambda a, p, t: f"{a:.4f} {p:.1f} {t}",
    "logit": lambda a, p, t: f"{a:.4f} {p + 5:.3f} {t}",
    "every number": lambda *said: " ".join(f"{i / 1000:.3f}" for i in range(1001)) + f" {said[2]}",
    "far too large": lambda *said: f"1e999 {10**400} {said[2]}",
}


@pytest.mark.parametrize("style", RIGHT)
def test_right_lines_in_any_style(lab: Contract, style: str) -> None:
    assert lab.lost(_lines(lab, RIGHT[style])) == set()


@pytest.mark.parametrize("style", WRONG)
def test_wrong_lines_lose_both(lab: Contract, style: str) -> None:
    assert lab.lost(_lines(lab, WRONG[style])) == LINES


def test_more_may_be_printed(lab: Contract) -> None:
    assert lab.lost(f"epoch 30 loss 0.1234\n{lab.run.output}\nis it True? no, False") == set()


def test_one_line_is_worth_half(lab: Contract) -> None:
    first, _ = lab.run.output.splitlines()
    assert lab.lost(first) == {"line_wrong"}


@pytest.mark.parametrize(("true", "false"), [(1, 0), (1.0, 0.0)])
def test_a_verdict_is_judged_by_value(lab: Contract, true: Any, false: Any) -> None:
    said = {name: true if one else false for name, one in lab.values["contract"].items()}
    assert lab.lost(contract=said) == set()


STRANGE = [None, "text", "True", [], [True, False], {}, 2, float("nan"), 10**30, torch.ones(3)]


@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: f"{value!r:.20}")
def test_strange_verdicts_are_lost(lab: Contract, strange: Any) -> None:
    said = dict.fromkeys(lab.values["contract"], strange)
    assert lab.lost(contract=said) == {"tokenized", "every_row"}


@pytest.mark.parametrize("always", [True, False])
def test_the_same_verdict_for_all_earns_nothing(lab: Contract, always: bool) -> None:
    said = dict.fromkeys(lab.values["contract"], always)
    mine = replace(lab.run, values={**lab.values, "contract": said})
    found, _ = checks.check(lab.assignment, {lab.case.name: lab.run}, (mine,))
    assert sum(check.earned for check in found if check.part == "contract") == 0


@pytest.mark.parametrize("strange", [*STRANGE, {"right": None}, {"right": [1, 2], "wrong": "ab"}])
@pytest.mark.parametrize(
    ("probe", "checks_lost"),
    [
        ("contract", {"tokenized", "every_row"}),
        ("head", {"head"}),
        ("confidence", {"accuracy", "top_probability"}),
        ("results", {"results"}),
    ],
)
def test_strange_answers_are_lost(
    lab: Contract, probe: str, checks_lost: set[str], strange: Any
) -> None:
    assert lab.lost(**{probe: strange}) == checks_lost


@pytest.mark.parametrize("probe", ["confidence", "results"])
def test_numbers_may_be_texts(lab: Contract, probe: str) -> None:
    texts = {name: [f"{n:.4f}" for n in pair] for name, pair in lab.values[probe].items()}
    assert lab.lost(**{probe: texts}) == set()
