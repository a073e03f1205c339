"""The lab `pooling`: printed lines in any style, and answers of any kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from grader import checks
from test_lines import Lab

MOVED = "1.2346"  #: what stands for the move below, to four decimals
LINES = {"line_alone", "line_move", "line_pooler"}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab("pooling")


def _lost(lab: Lab, output: str, **values: Any) -> set[str]:
    """What is lost by an output in which MOVED stands for the reference's move."""
    move = lab.values["queries_moved"]
    longer = output.replace(f"{MOVED}~", f"{move:.9f}").replace("1234.6e-3", f"{move * 1e3:.4f}e-3")
    return lab.lost(longer.replace(MOVED, f"{move:.4f}"), **values)


RIGHT = {
    "bare": f"True\n{MOVED}\nTrue",
    "one line": f"True {MOVED} True",
    "a list": f"[True, {MOVED}, True]",
    "labels": f"alone == padded: True\nmoved by {MOVED}.\npooler rebuilt: True!",
    "labels with numbers": f"1) 12 queries within 1e-5: True\n2) {MOVED}\n3) within 1e-5: True",
    "numbers beside": f"2.1e-06 True\n{MOVED} of 12\n3e-07 True",
    "torch": f"tensor(True)\ntensor({MOVED})\ntensor(True)",
    "numpy": f"np.True_\nnp.float32({MOVED}~)\nnp.True_",
    "more decimals": f"True {MOVED}~ True",
    "scientific": "True 1234.6e-3 True",
    "the move last": f"True\nTrue\n{MOVED}",
    "the move first": f"{MOVED}\nTrue\nTrue",
    "another truth before": f"training: False\nTrue\n{MOVED}\nTrue",
    "another truth between": f"True\nunmasked equal: False, {MOVED}\nTrue",
    "another truth after": f"True\n{MOVED}\nTrue\ntraining: False",
    "twice": f"True {MOVED} True\nalone True, moved {MOVED}, pooler True",
    "much else": "\n".join([*("loading",) * 60, f"True {MOVED} True", *("done",) * 60]),
}


@pytest.mark.parametrize("style", RIGHT)
def test_right_lines_in_any_style(style: str, lab: Lab) -> None:
    assert _lost(lab, RIGHT[style]) == set()


WRONG = {
    "nothing": ("", LINES),
    "words": ("yes, a lot, yes", LINES),
    "not alone": (f"False\n{MOVED}\nTrue", {"line_alone"}),
    "not the pooler": (f"True\n{MOVED}\nFalse", {"line_pooler"}),
    "neither": (f"False {MOVED} False", {"line_alone", "line_pooler"}),
    "another move": ("True\n0.0123\nTrue", {"line_move"}),
    "another move, not alone": ("False\n0.0123\nTrue", {"line_alone", "line_move"}),
    "no move": ("True\nTrue", {"line_move"}),
    "the move alone": (MOVED, {"line_alone", "line_pooler"}),
    "no pooler": (f"True {MOVED}", {"line_pooler"}),
    "no alone": (f"{MOVED} True", {"line_alone"}),
    "one truth": ("True", {"line_move", "line_pooler"}),
    "names": (f"IsTrue {MOVED} TrueTrue", {"line_alone", "line_pooler"}),
    "every number": (
        "True\n" + "\n".join(f"{i / 1e4:.4f}" for i in range(40_000)) + "\nTrue",
        {"line_move", "line_pooler"},
    ),
}


@pytest.mark.parametrize("style", WRONG)
def test_wrong_lines_in_any_style(style: str, lab: Lab) -> None:
    output, lost = WRONG[style]
    assert _lost(lab, output) == lost


def test_what_is_printed_must_be_so(lab: Lab) -> None:
    output, values = f"True {MOVED} True", lab.values
    assert _lost(lab, output, queries_alone=values["queries_alone"] * 3) == {"line_alone"}
    assert _lost(lab, output, queries_pooled=-values["queries_pooled"]) == {"line_pooler"}


STRANGE: tuple[Any, ...] = (
    None, True, 7, 10**30, float("nan"), "text", "1.5", [], {}, [1.0] * 5000, [[None]], {"rows": 3},
    {"shape": "wide", "rows": None, "last": []}, {"one query": None, "two texts": "many"},
    {"one query": torch.ones(3), "two texts": {"a": float("inf")}},
    torch.tensor(1.0), torch.ones(3, 4), torch.ones(2, 2, 2, dtype=torch.int64),
    torch.full((5, 256), torch.nan), torch.ones(0, 256), torch.ones(4, 256, dtype=torch.bool),
)  # fmt: skip


@pytest.mark.parametrize("place", range(len(STRANGE)))
def test_answers_of_any_kind_cost_points_and_nothing_else(place: int, lab: Lab) -> None:
    values = dict.fromkeys(lab.values, STRANGE[place])
    mine = replace(lab.run, output="\x00 True 1e999 -.5e True", values=values)
    found, _ = checks.check(lab.assignment, {lab.case.name: lab.run}, (mine,))
    assert {check.status for check in found} == {"failed"}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_the_width_of_floats_is_judged_by_value(dtype: torch.dtype, lab: Lab) -> None:
    values = {
        name: value.to(dtype) for name, value in lab.values.items() if hasattr(value, "dtype")
    }
    lost = lab.lost(lab.run.output, **values)
    assert bool(lost) == (dtype is torch.float16)
