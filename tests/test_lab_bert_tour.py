"""What the checks of `bert_tour` make of printed lines in any style, and of answers of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader import checks, store
from grader.assignment import load
from grader.known import expected_path
from grader.records import Assignment, Check, Run

BASE, LARGE = 109_482_240, 335_141_888


class Lab:
    """The public case, whose checks judge the reference's values with others in their place."""

    def __init__(self) -> None:
        loaded = load("bert_tour")
        cases = tuple(case for case in loaded.cases if not case.hidden)
        self.assignment: Assignment = replace(loaded, cases=cases)
        (self.case,) = cases
        self.run: Run = store.load_run(expected_path(loaded, self.case))
        self.values: dict[str, Any] = dict(self.run.values)
        self.contextual: float = self.values["cosines"][0]

    def check(self, output: str | None = None, **values: Any) -> tuple[Check, ...]:
        """The checks of a submission with this output and these other values."""
        mine = replace(
            self.run,
            output=self.run.output if output is None else output,
            values={**self.values, **values},
        )
        found, _ = checks.check(self.assignment, {self.case.name: self.run}, (mine,))
        return found

    def lost(self, output: str | None = None, **values: Any) -> set[str]:
        """The checks that it loses."""
        return {check.name for check in self.check(output, **values) if check.status != "passed"}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


COUNTS: dict[str, str] = {
    "plain": f"{BASE} {LARGE}",
    "a line each": f"base {BASE}\nlarge {LARGE}",
    "commas": f"base: {BASE:,}, large: {LARGE:,}",
    "underscores": f"{BASE:_}\n{LARGE:_}",
    "spaces": f"{BASE:,} and {LARGE:,}".replace(",", " "),
    "a dict": f"{{'base': {BASE}, 'large': {LARGE}}}",
    "tensors": f"tensor({BASE}) tensor({LARGE})",
    "large first": f"large={LARGE}; base={BASE}",
    "among others": f"tiny 4385920\nmini 11170560\nbase {BASE} 12 layers\nlarge {LARGE}",
}
WRONG_COUNTS: dict[str, str] = {
    "none": "",
    "base alone": f"{BASE}",
    "millions": "109.5M 335.1M",
    "without poolers": f"{BASE - 590_592} {LARGE - 1_049_600}",
    "in one": f"{BASE}{LARGE}",
}
COSINES: dict[str, Callable[[float], str]] = {
    "plain": lambda x: f"the {x:.3f} 1.000",
    "more decimals": lambda x: f"the {x:.6f} {0.9999998211860657}",
    "a line each": lambda x: f"contextual: {x:.4f}\nstatic: {1.0}",
    "tensors": lambda x: f"tensor({x:.4f}) tensor(1.)",
    "static first": lambda x: f"static 1.000\nin context {x:.3f}",
    "with the queries between": lambda x: f"the {x:.3f}\nWhere is the card?\nstatic 1.0000",
}
WRONG_COSINES: dict[str, Callable[[float], str]] = {
    "none": lambda _: "",
    "static alone": lambda _: "the 1.000 1.000",
    "contextual alone": lambda x: f"the {x:.3f}",
    "in percent": lambda x: f"the {100 * x:.1f} 100.0",
    "off": lambda x: f"the {x + 0.002:.3f} 1.000",
    "two decimals": lambda x: f"the {x - 0.002:.2f} 1.00",
    "all there are": lambda x: " ".join(f"{i / 1000:.3f}" for i in range(1001)),
    "not a number": lambda _: "the nan nan",
}


@pytest.mark.parametrize("style", COUNTS)
def test_right_counts_in_any_style(style: str, lab: Lab) -> None:
    assert lab.lost(f"{COUNTS[style]}\n{COSINES['plain'](lab.contextual)}") == set()


@pytest.mark.parametrize("style", WRONG_COUNTS)
def test_wrong_counts(style: str, lab: Lab) -> None:
    lost = lab.lost(f"{WRONG_COUNTS[style]}\n{COSINES['plain'](lab.contextual)}")
    assert lost == {"line_counts"}


@pytest.mark.parametrize("style", COSINES)
def test_right_cosines_in_any_style(style: str, lab: Lab) -> None:
    assert lab.lost(f"{BASE} {LARGE}\n{COSINES[style](lab.contextual)}") == set()


@pytest.mark.parametrize("style", WRONG_COSINES)
def test_wrong_cosines(style: str, lab: Lab) -> None:
    lost = lab.lost(f"{BASE} {LARGE}\n{WRONG_COSINES[style](lab.contextual)}")
    assert lost == {"line_cosines"}


def test_counts_that_are_printed_must_be_those_of_the_function(lab: Lab) -> None:
    assert lab.lost(count_base=BASE - 1) == {"count", "line_counts"}


@pytest.mark.parametrize(
    "count", [float(BASE), str(BASE), torch.tensor(BASE), torch.tensor([float(BASE)])]
)
def test_a_count_of_any_kind(count: Any, lab: Lab) -> None:
    assert lab.lost(count_base=count) == set()


STRANGE: dict[str, Any] = {
    "None": None,
    "text": "a text",
    "a number": 1.5,
    "not a number": float("nan"),
    "a huge number": 10**400,
    "True": True,
    "a list": [1, None, "a"],
    "an empty dict": {},
    "a dict": {"shape": "wide", "rows": None, "raised": [1], "named": "yes", "0 the": {}},
    "a tensor": torch.ones(2, 3),
    "no entries": torch.ones(0),
    "no axes": torch.tensor(float("nan")),
    "whole numbers": torch.ones(12, 256, dtype=torch.int64),
    "endless": torch.full((12, 256), float("inf")),
    "a long list": list(range(100_000)),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_answers_fail_and_need_no_look(kind: str, lab: Lab) -> None:
    asked = [name for name in lab.values if name != "cosines"]
    found = lab.check("", **dict.fromkeys(asked, STRANGE[kind]))
    assert {check.status for check in found} == {"failed"}
    inside = {"shape": STRANGE[kind], "rows": STRANGE[kind], "last": STRANGE[kind]}
    vectors = {
        name: dict.fromkeys(lab.values[name], STRANGE[kind])
        for name in asked
        if isinstance(lab.values[name], dict) and name.startswith("word_vector")
    }
    errors = {
        name: {"raised": STRANGE[kind], "named": STRANGE[kind]}
        for name in ("unknown_size", "word_absent", "word_in_pieces")
    }
    rows = dict.fromkeys(("cls_vector", "cls_vector_many", "cls_vector_long"), inside)
    found = lab.check(**vectors, **errors, **rows)
    assert {check.status for check in found} <= {"failed", "passed"}


def test_an_error_without_the_word_is_worth_half(lab: Lab) -> None:
    error = {"raised": "ValueError", "named": False}
    (lost,) = [one for one in lab.check(unknown_size=error) if one.status != "passed"]
    assert lost.name == "unknown_size"
    assert lost.earned == pytest.approx(lost.points / 2)
