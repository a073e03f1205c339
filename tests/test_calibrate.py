"""Bands: how checks get them, what right runs make of them, what is said of wrong ones."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from grader import bands
from grader.assignment import load
from grader.bands import Band, as_toml
from grader.calibrate import ACCEPTED, calibrate, kept, needs
from grader.records import AssignmentError
from grader.runner import Runner
from grader.spread import LADDERS, fitted
from grader.verify import verify
from small_course import change, copy_course

BANDS = '[bands.means]\nunit = "tolerance"\nvalue = 0.5\n'


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lab `means` with a band that is far too wide."""
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    folder = copy_course(tmp_path) / "assignments" / "means"
    change(folder / "test_public.py", "atol=1e-5", 'atol=band("means")')
    change(
        folder / "test_public.py", "import pytest", "import pytest\nfrom grader.bands import band"
    )
    (folder / "bands").mkdir()
    (folder / "bands" / "tiny.toml").write_text(BANDS)
    return folder


def test_calibration_makes_a_band_that_tells_right_from_wrong(lab: Path, runner: Runner) -> None:
    assert any(problem.where == "wrong/pads" for problem in verify(load("means"), runner).problems)
    made = calibrate(load("means"), runner, draws=2)
    assert not made.problems
    band = made.bands.bands["means"]
    assert band.right_runs == 7 * 2  # the reference in 6 ways, another right file; two draws
    assert band.largest is not None
    assert band.largest <= 1e-7  # sums of a few numbers below 1, in single precision
    assert band.largest <= band.value < 1e-3
    assert band.false_fail is not None
    assert 0 < band.false_fail < ACCEPTED
    assert made.bands.false_fail == pytest.approx(band.false_fail, rel=0.1)  # of the one case
    assert made.bands.lets_pass == {"wrong/pads": 0.0}
    (lab / "bands" / "tiny.toml").write_text(as_toml(made.bands, "means"))
    again = load("means")
    assert again.bands == {"means": band.value}
    assert not verify(again, runner).problems
    written = tomllib.loads((lab / "bands" / "tiny.toml").read_text())
    assert set(written["versions"]) >= {"torch", "transformers"}
    assert written["date"]


def test_a_band_that_cannot_tell_right_from_wrong_says_so(lab: Path, runner: Runner) -> None:
    """Right answers that differ by as much as a wrong one does."""
    right = lab.parents[1] / "solutions" / "means" / "right" / "loop.py"
    change(right, "h[m.bool()].mean(0)", "h[m.bool()].mean(0) + 0.02")
    made = calibrate(load("means"), runner, draws=1)
    assert made.bands.bands["means"].value > 0.02
    assert made.bands.lets_pass == {"wrong/pads": 1.0}
    assert made.problems == (
        "wrong/pads keeps a part that it should lose in 100% of the draws, since it is within the "
        "bands: ask another question",
    )


def test_a_right_file_that_no_band_helps_is_told(lab: Path, runner: Runner) -> None:
    right = lab.parents[1] / "solutions" / "means" / "right" / "loop.py"
    change(right, "def mean(", "def meant(")
    with pytest.raises(AssignmentError) as problem:
        calibrate(load("means"), runner, draws=1)
    assert "right/loop loses points with any band: {'public_0': ['means']}" in str(problem.value)
    assert (lab / "bands" / "tiny.toml").read_text() == BANDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BANDS.replace("means", "sums"),
            "there is no band 'means', only sums; add [bands.means] to the files in bands/",
        ),
        (BANDS.replace("tolerance", "width"), "bands.means.unit = 'width'"),
        (BANDS.replace("0.5", "-1"), "bands.means.value = -1"),
        (BANDS + "width = 1\n", "bands.means.width: there is no such field"),
        ("bands = 1", "bands"),
    ],
)
def test_a_wrong_file_of_bands_is_told(text: str, message: str, lab: Path, runner: Runner) -> None:
    (lab / "bands" / "tiny.toml").write_text(text)
    try:
        told = [problem.message for problem in verify(load("means"), runner).problems]
    except AssignmentError as problem:
        told = [str(problem)]
        assert "tiny.toml: " in told[0]
    assert message in told[0]


def test_a_lab_without_bands_cannot_be_calibrated(lab: Path, runner: Runner) -> None:
    (lab / "bands" / "tiny.toml").unlink()
    with pytest.raises(AssignmentError, match=r"bands: there are no bands to calibrate"):
        calibrate(load("means"), runner)


def test_bands_are_those_of_the_lab_being_checked() -> None:
    with pytest.raises(LookupError, match=r"add \[bands\.features\]"):
        bands.band("features")
    with bands.use({"features": 1e-3}):
        assert bands.band("features") == 1e-3
    with pytest.raises(LookupError):
        bands.band("features")


def test_what_is_needed_is_found_by_judging() -> None:
    """Each draw's need to the step of the ladder above it, in far fewer judgements than steps."""
    true = {"a": 3e-6, "b": 4.9e-4, "c": 0.0, "d": 5e-1}
    asked = {"x": Band(unit="tolerance", value=1), "y": Band(unit="rows", value=1)}
    calls = []

    def lost(values: Mapping[str, float]) -> dict[str, set[str]]:
        calls.append(values)
        assert values["y"] == LADDERS["rows"][-1]
        return {draw: {"part"} if need > values["x"] else set() for draw, need in true.items()}

    assert needs("x", asked, lost) == [5e-6, 5e-4, 1e-9, 5e-1]
    assert len(calls) < len(LADDERS["tolerance"])


@pytest.mark.parametrize(
    ("parts", "share"),
    [({"a"}, 0.5), ({"b"}, 0.0), ({"a", "b"}, 0.5), ({"c"}, 0.0)],
)
def test_what_the_bands_let_a_wrong_file_keep(parts: set[str], share: float) -> None:
    """Of two draws of two cases: the band keeps `a` in the second; `c` is lost under none."""
    asked = {"x": Band(unit="rows", value=0)}

    def lost(values: Mapping[str, float]) -> dict[str, set[str]]:
        second = {"a"} if values["x"] == 0 else set[str]()
        return {"one_0": {"a"}, "one_1": second, "two_0": {"b"}, "two_1": {"b"}}

    found = {"x": Band(unit="rows", value=2)}
    assert kept(frozenset(parts), asked, found, lost, 2) == share


def test_the_way_that_needs_most_sets_the_tolerance() -> None:
    """However many others there are that need next to nothing."""
    alone = fitted("tolerance", {"one": [1e-6, 2e-6] * 5}, ACCEPTED)
    exact = {f"exact {i}": [1e-9] * 10 for i in range(20)}
    among = fitted("tolerance", {**exact, "one": [1e-6, 2e-6] * 5}, ACCEPTED)
    assert (among.value, among.false_fail) == (alone.value, alone.false_fail)


@pytest.mark.parametrize(("runs", "rows"), [(20, 3), (300, 1), (1_000_000, 0)])
def test_rows_that_never_moved(runs: int, rows: int) -> None:
    """By the rule of three at most 3 / runs in a run; several in one are far rarer."""
    found = fitted("rows", {"one": [0.0] * (runs // 2), "other": [0.0] * (runs // 2)}, ACCEPTED)
    assert found.value == rows
    assert found.false_fail is not None
    rate, more = 3 / runs, rows + 1
    assert found.false_fail == pytest.approx(rate**more / math.factorial(more), rel=0.2)


def test_tolerances_are_as_wide_as_the_spread_asks() -> None:
    same = fitted("tolerance", {"one": [1e-6] * 40}, ACCEPTED)
    spread = fitted("tolerance", {"one": [1e-7, 1e-6, 1e-5] * 13}, ACCEPTED)
    assert 1e-6 < same.value <= 1e-5
    assert spread.value > 10 * same.value
    assert same.largest == 1e-6
    for found in (same, spread):
        assert found.false_fail is not None
        assert 0 < found.false_fail < ACCEPTED


def test_gumbel_chances_hold_for_the_largest_of_many_errors() -> None:
    """Of many fresh samples of largest errors, no more exceed the band than was stated."""
    generator = torch.Generator().manual_seed(5)
    largest = torch.randn(200_000, 64, generator=generator).abs().amax(1) * 1e-6
    ladder = LADDERS["tolerance"]
    needed = [next(step for step in ladder if step >= value) for value in largest[:40].tolist()]
    found = fitted("tolerance", {"one": needed}, ACCEPTED)
    assert float((largest > found.value).double().mean()) <= ACCEPTED
