"""Comparisons: their order, what a message tells, and what never passes."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader import codec
from grader.compare import Mismatch, close, equal, kind, number, numbers, same_set, within

PROPERTY = settings(max_examples=60, deadline=None, derandomize=True)
INF, NAN = math.inf, math.nan
finite = st.floats(-1e6, 1e6)


def _told(compare: Callable[..., None], *arguments: object, **options: object) -> str:
    """The message of a comparison that must fail."""
    with pytest.raises(Mismatch) as caught:
        compare(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


# close --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "told"),
    [
        (None, "x: expected a tensor, got None"),
        (True, "x: expected a tensor, got True or False"),
        (3, "x: expected a tensor, got a whole number"),
        (3.0, "x: expected a tensor, got a number"),
        ("3", "x: expected a tensor, got text"),
        ([1.0, 2.0], "x: expected a tensor, got a list"),
        ({}, "x: expected a tensor, got a dict"),
        # Each line has all that comes after it wrong too: the first in the order is told.
        (torch.full((3,), NAN).int(), "x: expected shape [2], got [3]"),
        (torch.full((2, 1), NAN), "x: expected shape [2], got [2, 1]"),
        (torch.tensor([5, 5]), "x: expected torch.float32, got torch.int64"),
        (torch.tensor([True, True]), "x: expected torch.float32, got torch.bool"),
        (torch.tensor([9.0, NAN]), "x: 1 entries are not finite, the first at [1]"),
        (torch.tensor([INF, -INF]), "x: 2 entries are not finite, the first at [0]"),
        (torch.tensor([1.0, 9.0]), "x: 1 of 2 entries are off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_order_is_type_shape_dtype_finite_values(actual: codec.Value, told: str) -> None:
    assert _told(close, actual, torch.tensor([1.0, 2.0]), "x").startswith(told)


def test_message_has_count_allowance_largest_error_and_its_place() -> None:
    expected = torch.full((2, 3, 4), 2.0)
    actual = expected.clone()
    actual[0, 1, 2] += 0.25
    actual[1, 2, 3] -= 0.5
    actual[0, 0, 0] += 0.01
    assert _told(close, actual, expected, "views", atol=0.1) == (
        "views: 2 of 24 entries are off by more than 0.1; "
        "the largest error is 0.5 (relative 0.25), at [1, 2, 3]"
    )
    assert "more than 0.01 + 0.1 of the value" in _told(
        close, actual, expected, "views", atol=0.01, rtol=0.1
    )


def test_large_counts_are_readable() -> None:
    assert "1,200 of 1,200 entries" in _told(close, torch.ones(1200), torch.zeros(1200), "x")


def test_relative_tolerance_is_of_the_expected_value() -> None:
    close(torch.tensor([110.0]), torch.tensor([100.0]), "x", atol=0, rtol=0.101)
    _told(close, torch.tensor([110.0]), torch.tensor([100.0]), "x", atol=0, rtol=0.099)
    _told(close, torch.tensor([100.0]), torch.tensor([0.0]), "x", atol=0, rtol=1.0)


@pytest.mark.parametrize("mine", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("theirs", [torch.float64, torch.float32])
def test_floats_of_any_width_compare(mine: torch.dtype, theirs: torch.dtype) -> None:
    close(torch.tensor([0.5, 2.0], dtype=mine), torch.tensor([0.5, 2.0], dtype=theirs), "x")
    _told(close, torch.tensor([0.5, 3.0], dtype=mine), torch.tensor([0.5, 2.0]), "x")


@pytest.mark.parametrize("expected", [0.0, 1.0, INF, -INF])
@pytest.mark.parametrize("rtol", [0.0, 0.5])
def test_nan_never_passes_for_a_value(expected: float, rtol: float) -> None:
    actual = torch.tensor([0.0, NAN])
    _told(close, actual, torch.tensor([0.0, expected]), "x", atol=1e9, rtol=rtol)


@pytest.mark.parametrize("actual", [0.0, 1e30, INF, -INF])
@pytest.mark.parametrize("rtol", [0.0, 0.5])
def test_nothing_but_nan_passes_for_nan(actual: float, rtol: float) -> None:
    expected = torch.tensor([0.0, NAN])
    close(expected.clone(), expected, "x", rtol=rtol)
    _told(close, torch.tensor([0.0, actual]), expected, "x", rtol=rtol)


@pytest.mark.parametrize("actual", [0.0, 1e30, NAN, -INF])
@pytest.mark.parametrize("rtol", [0.0, 0.5])
def test_nothing_but_the_same_infinity_passes_for_infinity(actual: float, rtol: float) -> None:
    """Masked scores are -inf: they must not match whatever a student has there."""
    for sign in (1, -1):
        expected = sign * torch.tensor([0.0, INF])
        close(expected.clone(), expected, "x", rtol=rtol)
        _told(close, sign * torch.tensor([0.0, actual]), expected, "x", rtol=rtol)


def test_difference_that_overflows_is_off() -> None:
    largest = torch.tensor([1.7e308], dtype=torch.float64)
    assert "1 of 1" in _told(close, largest, -largest, "x")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
def test_empty_tensors(shape: tuple[int, ...]) -> None:
    close(torch.empty(shape), torch.empty(shape), "x")
    close(torch.empty(shape, dtype=torch.long), torch.empty(shape, dtype=torch.long), "x")
    assert "expected shape" in _told(close, torch.empty(1), torch.empty(shape), "x")
    assert "expected shape" in _told(close, torch.empty(shape), torch.empty(1), "x")


@pytest.mark.parametrize("expected", [torch.tensor(2.0), torch.tensor(2), torch.tensor(True)])
def test_tensors_without_axes(expected: torch.Tensor) -> None:
    close(expected.clone(), expected, "x")
    message = _told(close, torch.zeros_like(expected), expected, "x")
    assert message.startswith("x: 1 of 1 entries")
    assert "expected shape [], got [1]" in _told(close, expected.reshape(1), expected, "x")


def test_nan_without_axes() -> None:
    assert "not finite" in _told(close, torch.tensor(NAN), torch.tensor(2.0), "x")


def test_whole_numbers_are_exact_and_of_any_width() -> None:
    expected = torch.tensor([[1, 2], [3, 2**53 + 1]])
    close(expected.clone(), expected, "x", atol=10)
    close(torch.tensor([1, 2], dtype=torch.int16), torch.tensor([1, 2]), "x")
    assert _told(close, expected - torch.tensor([0, 1]), expected, "ids", atol=10) == (
        "ids: 2 of 4 entries differ, the first at [0, 1]: expected 2, got 1"
    )


def test_booleans_are_no_whole_numbers() -> None:
    flags, ones = torch.tensor([True, False]), torch.tensor([1, 0])
    for compare in (close, equal):
        compare(flags.clone(), flags, "mask")
        assert "expected torch.bool, got torch.int64" in _told(compare, ones, flags, "mask")
        assert "expected torch.int64, got torch.bool" in _told(compare, flags, ones, "mask")


@pytest.mark.parametrize("compare", [close, same_set])
def test_reference_of_another_type_is_the_labs_fault(compare: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match="the reference"):
        compare("a", "a", "x")


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    size = math.prod(shape)
    two = [draw(st.lists(finite, min_size=size, max_size=size)) for _ in range(2)]
    mine, theirs = (torch.tensor(row, dtype=torch.float64).reshape(shape) for row in two)
    if draw(st.booleans()):
        theirs = mine + draw(st.sampled_from([0.0, 1e-6, 1e-5, 0.5]))
    return mine, theirs


@PROPERTY
@given(_pairs(), st.sampled_from([0.0, 1e-6, 1e-5, 0.5, 1e3]))
def test_close_passes_exactly_when_the_largest_error_is_allowed(
    pair: tuple[torch.Tensor, torch.Tensor], atol: float
) -> None:
    mine, theirs = pair
    errors = [abs(a - b) for a, b in zip(*(t.flatten().tolist() for t in pair), strict=True)]
    if max(errors, default=0.0) <= atol:
        close(mine, theirs, "x", atol=atol)
    else:
        off = sum(error > atol for error in errors)
        message = _told(close, mine, theirs, "x", atol=atol)
        assert message.startswith(f"x: {off} of {len(errors)} entries are off by more than")
        assert f"the largest error is {max(errors):.3g} " in message


@PROPERTY
@given(st.lists(st.floats(), min_size=1, max_size=6), st.integers(0, 5))
def test_a_nan_anywhere_fails(values: list[float], place: int) -> None:
    expected = torch.tensor(values, dtype=torch.float64).nan_to_num()
    actual = expected.clone()
    actual[place % len(values)] = NAN
    _told(close, actual, expected, "x", atol=INF)


# equal --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 1.5, "a", [], [1, "a", [None]], {}, {"a": {"b": [1.5]}}, torch.ones(2), INF],
)
def test_equal_values_pass(value: codec.Value) -> None:
    equal(value, value, "x")


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        (1, True, "expected True or False, got a whole number"),
        (True, 1, "expected a whole number, got True or False"),
        (1.0, 1, "expected a whole number, got a number"),
        ("1", 1, "expected a whole number, got text"),
        (None, "a", "expected text, got None"),
        ([1], torch.tensor([1]), "expected a tensor, got a list"),
        (torch.tensor([1]), [1], "expected a list, got a tensor"),
        ("b", "a", "expected 'a', got 'b'"),
        ([1, 2], [1, 2, 3], "expected 3 items, got 2"),
        ([1, 3, 3], [1, 2, 3], "x, item 1: expected 2, got 3"),
        ([[1, True]], [[1, 1]], "x, item 0, item 1: expected a whole number, got True or False"),
        ({"a": 1}, {"a": 1, "b": 2}, "1 missing, such as 'b'"),
        ({"a": 1, "c": 2}, {"a": 1}, "1 too many, such as 'c'"),
        ({"a": 1, "b": 3}, {"a": 1, "b": 2}, "1 of 2 entries differ, such as 'b'"),
        ({"a": True}, {"a": 1}, "'a'"),
        ({"a": [1, 1.0]}, {"a": [1, 1]}, "'a'"),
        (torch.tensor([1.0]), torch.tensor([1.5]), "1 of 1 entries are off"),
    ],
)
def test_unequal_values_are_told(actual: codec.Value, expected: codec.Value, told: str) -> None:
    assert told in _told(equal, actual, expected, "x")


def test_dicts_of_tensors_compare() -> None:
    expected = {"a": torch.ones(2), "b": torch.zeros(2, 2)}
    equal({"a": torch.ones(2), "b": torch.zeros(2, 2)}, expected, "x")
    assert "'b'" in _told(equal, {**expected, "b": torch.ones(2, 2)}, expected, "x")
    assert "'b'" in _told(equal, {**expected, "b": torch.ones(3)}, expected, "x")
    assert "'a'" in _told(equal, {**expected, "a": 1.0}, expected, "x")


def test_long_values_are_cut_in_a_message() -> None:
    assert "…" in _told(equal, "a" * 100_000, "b", "x")
    assert "…" in _told(equal, {"a": "b" * 1000}, {"a": "c"}, "x")
    assert "20 missing" in _told(equal, {}, {f"key {n}" * 5: n for n in range(20)}, "x")


# same_set -----------------------------------------------------------------------------------------


def test_same_set_is_of_any_order() -> None:
    same_set(["b", "a", "c"], ["a", "b", "c"], "words")
    same_set([], [], "words")


@pytest.mark.parametrize(
    ("actual", "told"),
    [
        ("abc", "expected a collection, got text"),
        ({"a": 1}, "expected a collection, got a dict"),
        (None, "expected a collection, got None"),
        (["a", "b", "a", "c"], "1 are there twice"),
        (["a", "b"], "1 missing, such as 'c'"),
        (["a", "b", "c", "d"], "1 too many, such as 'd'"),
        (["a", "x"], "2 missing, such as 'b', 'c'; 1 too many, such as 'x'"),
        ([], "3 missing, such as 'a', 'b', 'c'"),
        ([["a"], ["b"], {"c": 1}], "3 missing"),
    ],
)
def test_other_sets_are_told(actual: codec.Value, told: str) -> None:
    assert told in _told(same_set, actual, ["a", "b", "c"], "words")


@PROPERTY
@given(st.lists(st.text(max_size=3), unique=True), st.randoms())
def test_same_set_ignores_order(words: list[str], chance: object) -> None:
    shuffled = sorted(words, key=lambda _: chance.random())  # type: ignore[attr-defined]
    same_set(shuffled, words, "words")
    if words:
        _told(same_set, shuffled[1:], words, "words")
        _told(same_set, shuffled, words[1:], "words")


# number, within, numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (3, 3.0),
        (-0.5, -0.5),
        ("3", 3.0),
        (" 0.25\n", 0.25),
        ("-1e-3", -0.001),
        (".5", 0.5),
        ("3.", 3.0),
        (torch.tensor(0.5), 0.5),
        (torch.tensor([[7]]), 7.0),
        (torch.tensor(0.5, dtype=torch.bfloat16), 0.5),
    ],
)
def test_number_of_what_is_one(value: codec.Value, meant: float) -> None:
    found = number(value, "x")
    assert type(found) is float
    assert found == meant


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, torch.tensor(True), torch.tensor([1.0, 2.0]), torch.tensor([]), [1.0],
        {"a": 1}, "", "one", "1 2", "1,5", "50%", "nan", "inf", "0x10", "1_000", "True",
    ],
)  # fmt: skip
def test_number_of_what_is_none(value: codec.Value) -> None:
    assert _told(number, value, "x").startswith("x: expected a number, got")


@pytest.mark.parametrize("value", [NAN, INF, -INF, "1e999", torch.tensor(NAN), torch.tensor(-INF)])
def test_number_that_is_not_finite(value: codec.Value) -> None:
    assert _told(number, value, "x").startswith("x: expected a finite number, got")


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_number_beyond_all_floats_is_a_students_fault(sign: int) -> None:
    _told(number, sign * 10**400, "x")
    _told(within, sign * 10**4000, 1, "x", band=1)


@pytest.mark.parametrize(
    "value", [np.float64(0.5), np.float32(0.5), np.array(0.5), np.array([0.5])], ids=repr
)
def test_numbers_of_numpy(value: object) -> None:
    ((header, payload),) = codec.FrameReader().feed(codec.pack({}, value=value))
    within(codec.decode(header["value"], payload), 0.5, "x", band=0)


def test_numpy_boolean_is_no_number() -> None:
    ((header, payload),) = codec.FrameReader().feed(codec.pack({}, value=np.bool_(1)))
    _told(number, codec.decode(header["value"], payload), "x")


@pytest.mark.parametrize("text", ["1" * 4000 + "x", "1" * 4000 + "e", "." * 4000, "+" * 4000])
def test_long_text_that_is_nearly_a_number_takes_no_time(text: str) -> None:
    start = time.process_time()
    _told(number, text, "x")
    numbers(text)
    assert time.process_time() - start < 0.2


def test_within_its_band() -> None:
    within(0.8, 0.75, "accuracy", band=0.05)
    within("0.7", 0.75, "accuracy", band=0.05)
    assert _told(within, 0.9, 0.75, "accuracy", band=0.05) == (
        "accuracy: expected 0.75 give or take 0.05, got 0.9 (0.15 away)"
    )
    assert "got True" in _told(within, True, 1, "accuracy", band=1)


def test_within_a_reference_that_is_no_number_is_the_labs_fault() -> None:
    for reference in (None, "many", NAN, True):
        with pytest.raises(TypeError):
            within(1.0, reference, "x", band=1)


@PROPERTY
@given(finite, finite, st.floats(0, 1e6))
def test_within_is_symmetric_and_means_the_distance(one: float, other: float, band: float) -> None:
    assume(not math.isclose(abs(one - other), band, rel_tol=1e-9, abs_tol=1e-9))
    if abs(one - other) < band:
        within(one, other, "x", band=band)
        within(other, one, "x", band=band)
    else:
        _told(within, one, other, "x", band=band)
        _told(within, other, one, "x", band=band)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("no numbers", []),
        ("layer 3: 0.75 (n=1200)", [3.0, 0.75, 1200.0]),
        ("-1.5e-3 +2 .5 7.", [-0.0015, 2.0, 0.5, 7.0]),
        ("1.2.3", [1.2, 0.3]),
        ("1e", [1.0]),
        ("9" * 400, [INF]),
    ],
)
def test_numbers_in_a_text(text: str, found: list[float]) -> None:
    assert numbers(text) == found


@PROPERTY
@given(st.lists(finite, max_size=5))
def test_numbers_finds_what_was_printed(values: list[float]) -> None:
    assert numbers(" | ".join(map(repr, values))) == values


@PROPERTY
@given(st.text())
def test_numbers_takes_any_text(text: str) -> None:
    assert all(isinstance(value, float) for value in numbers(text))
    assert len(numbers(text)) <= len(re.findall(r"\d", text))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "None"), (True, "True or False"), (1, "a whole number"), (1.0, "a number"),
        ("a", "text"), ([], "a list"), ({}, "a dict"), (torch.ones(1), "a tensor"),
    ],
)  # fmt: skip
def test_kinds_in_a_students_words(value: codec.Value, told: str) -> None:
    assert kind(value) == told
