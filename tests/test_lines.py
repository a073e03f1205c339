"""What the labs' checks make of printed lines: right ones in any style, wrong ones in any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grader import checks, store
from grader.assignment import load
from grader.known import expected_path
from grader.records import Assignment, Run


class Lab:
    """A lab's public case, whose checks judge the reference's values with another output."""

    def __init__(self, name: str) -> None:
        loaded = load(name)
        self.assignment: Assignment = replace(
            loaded, cases=tuple(case for case in loaded.cases if not case.hidden)
        )
        (self.case,) = self.assignment.cases
        self.run: Run = store.load_run(expected_path(loaded, self.case))
        self.values: dict[str, Any] = dict(self.run.values)

    def lost(self, output: str, **values: Any) -> set[str]:
        """The checks that a submission with this output, and these other values, loses."""
        mine = replace(self.run, output=output, values={**self.values, **values})
        found, _ = checks.check(self.assignment, {self.case.name: self.run}, (mine,))
        return {check.name for check in found if check.status != "passed"}


class Layers(Lab):
    """Accuracies by view, for lines of the lab `layers`."""

    def __init__(self) -> None:
        super().__init__("layers")
        self.val: dict[str, float] = self.values["scores"]
        self.train: dict[str, float] = self.values["accuracies"]["train"]
        self.test: dict[str, float] = self.values["accuracies"]["test"]
        self.chosen: str = self.values["chosen"]
        self.shape = tuple(self.values["T"]["mean 0"]["shape"])
        self.names = f"{list(self.val)} {self.shape}"
        self.same = "True"
        self.best = f"{self.chosen} {self.test[self.chosen]:.4f}"

    def table(self, row: Callable[[str], str] | None = None) -> list[str]:
        """A line for each view."""
        row = row or (lambda name: f"{name} {self.train[name]:.4f} {self.val[name]:.4f}")
        return [row(name) for name in self.val]

    def output(self, **parts: str | list[str]) -> str:
        """What a script prints, with other parts than the plainest."""
        plain = {"names": self.names, "table": self.table(), "same": self.same, "best": self.best}
        lines = []
        for part in {**plain, **parts}.values():
            lines += part if isinstance(part, list) else [part]
        return "\n".join(lines)


@pytest.fixture(scope="module")
def layers() -> Layers:
    return Layers()


def _near(lab: Layers) -> str:
    """The view whose test accuracy is nearest to that of the one that was chosen."""
    others = [name for name in lab.test if name != lab.chosen]
    return min(others, key=lambda name: abs(lab.test[name] - lab.test[lab.chosen]))


RIGHT: dict[str, Callable[[Layers], dict[str, str | list[str]]]] = {
    "plain": lambda _: {},
    # A view that is named without an accuracy; the one on the next line is another view's.
    "another view before": lambda lab: {
        "same": f"{_near(lab)} equals F: True",
        "best": f"{lab.chosen} {(lab.test[_near(lab)] + lab.test[lab.chosen]) / 2:.4f}",
    },
    "accuracy below": lambda lab: {"best": [lab.chosen, f"{lab.test[lab.chosen]:.4f}"]},
    "accuracy two below": lambda lab: {
        "best": [
            f"chosen: {lab.chosen}",
            f"validation {lab.val[lab.chosen]:.4f}",
            f"test {lab.test[lab.chosen]:.4f}",
        ]
    },
    "validation after test": lambda lab: {"best": f"{lab.best} (validation {lab.val[lab.chosen]})"},
    "ranking": lambda lab: {"same": ["True", *(f"{n} {lab.val[n]:.3f}" for n in lab.val)]},
    "numbered": lambda lab: {
        "table": [f"{i} {row}" for i, row in enumerate(lab.table(), 1)],
    },
    "percent": lambda lab: {
        "table": lab.table(lambda n: f"{n}: {lab.train[n]:.4%} / {lab.val[n]:.4%}")
    },
    "seconds": lambda lab: {"table": [f"{row} 0.31 s" for row in lab.table()]},
    "shape first": lambda lab: {"names": [f"torch.Size({list(lab.shape)})", str(list(lab.val))]},
    "shapes": lambda lab: {"names": [f"{name}: {lab.shape}" for name in lab.val]},
    "something else is False": lambda _: {"same": ["training: False", "equal: True"]},
    "best first": lambda lab: {
        "best": [],
        "names": [lab.names, f"{lab.chosen} {lab.val[lab.chosen]:.4f} {lab.test[lab.chosen]:.4f}"],
    },
}


@pytest.mark.parametrize("style", RIGHT)
def test_right_lines_in_any_style(style: str, layers: Layers) -> None:
    assert layers.lost(layers.output(**RIGHT[style](layers))) == set()


def _moved(lab: Layers, rows: int) -> list[str]:
    """A table whose validation accuracies are a row off, in so many lines."""
    size = lab.values["sizes"]["val"]
    off = {name: (i < rows) / size for i, name in enumerate(lab.val)}
    return lab.table(lambda n: f"{n} {lab.train[n]:.4f} {lab.val[n] + off[n]:.4f}")


WRONG: dict[str, tuple[str, Callable[[Layers], dict[str, str | list[str]]]]] = {
    "no test accuracy": ("line_test", lambda lab: {"best": lab.chosen}),
    "another number": ("line_test", lambda lab: {"best": f"{lab.chosen} 0.0100"}),
    "every view tested": (
        "line_test",
        lambda lab: {"same": ["True", *(f"{n} test {lab.test[n]:.4f}" for n in lab.test)]},
    ),
    "every view tested in the table": (
        "line_test",
        lambda lab: {
            "table": lab.table(
                lambda n: f"{n} {lab.train[n]:.4f} {lab.val[n]:.4f} {lab.test[n]:.4f}"
            )
        },
    ),
    "False": ("line_equal", lambda _: {"same": "False"}),
    "no shape": ("line_names", lambda lab: {"names": str(list(lab.val))}),
    "shape of validation": ("line_names", lambda lab: {"names": f"{list(lab.val)} (70, 256)"}),
    "a view left out": ("line_accuracies", lambda lab: {"table": lab.table()[1:]}),
    "validation first": (
        "line_accuracies",
        lambda lab: {"table": lab.table(lambda n: f"{n} {lab.val[n]:.4f} {lab.train[n]:.4f}")},
    ),
    "two decimals": (
        "line_accuracies",
        lambda lab: {"table": lab.table(lambda n: f"{n} {lab.train[n]:.2f} {lab.val[n]:.2f}")},
    ),
    "a row off in every line": ("line_accuracies", lambda lab: {"table": _moved(lab, 7)}),
}


@pytest.mark.parametrize("style", WRONG)
def test_wrong_lines_in_any_style(style: str, layers: Layers) -> None:
    check, parts = WRONG[style]
    assert layers.lost(layers.output(**parts(layers))) == {check}


def test_the_tables_rows_may_be_off_by_the_band_together(layers: Layers) -> None:
    rows = int(layers.assignment.bands["rows"])
    assert layers.lost(layers.output(table=_moved(layers, rows))) == set()
    assert layers.lost(layers.output(table=_moved(layers, rows + 1))) == {"line_accuracies"}


@pytest.mark.parametrize(
    ("accuracy", "cosine", "kept"),
    [(0, 0.0, True), (1, 0.0, True), (1, 0.002, False), (4, 0.0, False)],
)
def test_results_of_random_bert(accuracy: int, cosine: float, kept: bool) -> None:
    lab = Lab("random_bert")
    first, *_ = lab.run.output.splitlines()
    rows = lab.values["F"]["shape"][0]
    lines = [first]
    for name, (train, val, mean) in lab.values["results"].items():
        off = (accuracy / rows, cosine) if name == "random" else (0, 0)
        lines.append(f"{name}: 7 of {train + off[0]:.4f}, {val:.4f}; {mean + off[1]:.3f}")
    assert lab.lost("\n".join(lines)) == (set() if kept else {"line_random"})
