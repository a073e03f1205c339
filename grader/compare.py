"""Comparisons for checks: a student's value against the reference's, explained when it misses.

The order is the same everywhere: type, shape, dtype, finite, values. Each function returns nothing
or raises `Mismatch` with a sentence for the student: what was asked for, what came, how far off.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar

import torch

from grader.records import Value

_SHOWN = 5  #: how many differing entries a message lists
_LARGEST = 2**53  #: beyond it a whole number has no exact float
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")


_allowed: ContextVar[list[float] | None] = ContextVar("allowed", default=None)


class Mismatch(AssertionError):
    """A student's value is not what was asked for; the message is for the student."""


@contextlib.contextmanager
def noting() -> Iterator[list[float]]:
    """Collect how far the numbers that are compared inside may be off."""
    allowed: list[float] = []
    token = _allowed.set(allowed)
    try:
        yield allowed
    finally:
        _allowed.reset(token)


def _note(allowed: float) -> None:
    if (notes := _allowed.get()) is not None and math.isfinite(allowed):
        notes.append(allowed)


def close(
    actual: Value,
    expected: Value,
    what: str,
    atol: float = 1e-5,
    rtol: float = 0.0,
    apart: float = 0.0,
) -> None:
    """Two tensors agree entry by entry within `atol + rtol * |expected|`.

    Floating types of different widths may be compared, since a width changes no meaning here;
    numbers against whole numbers or booleans may not.

    Args:
        actual: the student's.
        expected: the reference's.
        what: what they are, in the student's words.
        atol: how far apart two entries may be.
        rtol: how much more, as a fraction of the reference's.
        apart: the fraction of entries that may be further apart, for weights that were trained:
            where a gradient is next to zero, Adam makes much of its last bit.

    Raises:
        TypeError: the reference's value is no tensor, which is the lab's fault.
    """
    if not isinstance(expected, torch.Tensor):
        raise TypeError(f"{what}: the reference gives a {kind(expected)}, not a tensor")
    if not isinstance(actual, torch.Tensor):
        raise Mismatch(f"{what}: expected a tensor, got {kind(actual)}")
    if actual.shape != expected.shape:
        raise Mismatch(f"{what}: expected shape {_shape(expected)}, got {_shape(actual)}")
    if _family(actual) != _family(expected):
        raise Mismatch(f"{what}: expected {expected.dtype}, got {actual.dtype}")
    if not expected.dtype.is_floating_point:
        _same_entries(actual, expected, what)
        return
    if not rtol:
        _note(atol)
    mine, theirs = actual.double(), expected.double()
    same = (mine == theirs) | (mine.isnan() & theirs.isnan())
    bad = ~torch.isfinite(mine) & ~same
    if bad.any():
        where = _index(bad.nonzero()[0])
        raise Mismatch(f"{what}: {int(bad.sum())} entries are not finite, the first at {where}")
    error = (mine - theirs).abs().nan_to_num(math.inf, math.inf).masked_fill(same, 0.0)
    off = error > atol + rtol * theirs.abs().nan_to_num(0.0, 0.0)
    if int(off.sum()) > apart * off.numel():
        raise Mismatch(_far(what, error, theirs, off, atol, rtol))


def _far(
    what: str,
    error: torch.Tensor,
    expected: torch.Tensor,
    off: torch.Tensor,
    atol: float,
    rtol: float,
) -> str:
    """How many entries are off, and the largest error with its place."""
    worst = int(error.argmax())
    place = [int(axis) for axis in torch.unravel_index(torch.tensor(worst), error.shape)]
    relative = float(error.flatten()[worst] / expected.flatten()[worst].abs().clamp_min(1e-12))
    allowed = f"{atol:g}" + (f" + {rtol:g} of the value" if rtol else "")
    return (
        f"{what}: {int(off.sum()):,} of {off.numel():,} entries are off by more than {allowed}; "
        f"the largest error is {float(error.max()):.3g} (relative {relative:.2g}), at {place}"
    )


def _same_entries(actual: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    off = actual.long() != expected.long()
    if off.any():
        first = off.nonzero()[0]
        raise Mismatch(
            f"{what}: {int(off.sum()):,} of {off.numel():,} entries differ, the first at "
            f"{_index(first)}: expected {expected[tuple(first)].item()}, "
            f"got {actual[tuple(first)].item()}"
        )


def same_kind(actual: Value, expected: Value, what: str) -> None:
    """Two values are of one kind: both a list, both a dict, both a tensor and so on."""
    if kind(actual) != kind(expected):
        raise Mismatch(f"{what}: expected {kind(expected)}, got {kind(actual)}")


def equal(actual: Value, expected: Value, what: str) -> None:
    """Two plain values are equal, in type and content; lists, sets of words and dicts in detail."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        _equal_dicts(actual, expected, what)
        return
    if isinstance(expected, list) and isinstance(actual, list):
        _equal_lists(actual, expected, what)
        return
    same_kind(actual, expected, what)
    if isinstance(expected, torch.Tensor):
        close(actual, expected, what, atol=0.0)
    elif actual != expected:
        raise Mismatch(f"{what}: expected {_show(expected)}, got {_show(actual)}")


def _equal_dicts(actual: Mapping[str, Value], expected: Mapping[str, Value], what: str) -> None:
    _same_keys(list(actual), list(expected), what)
    wrong = []
    for key in expected:
        try:
            equal(actual[key], expected[key], _show(key))
        except Mismatch as problem:
            wrong.append(problem)
    if wrong:
        count = f"{len(wrong):,} of {len(expected):,}"
        raise Mismatch(f"{what}: {count} entries differ, such as {wrong[0]}")


def _equal_lists(actual: Sequence[Value], expected: Sequence[Value], what: str) -> None:
    if len(actual) != len(expected):
        raise Mismatch(f"{what}: expected {len(expected):,} items, got {len(actual):,}")
    for i, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        equal(mine, theirs, f"{what}, item {i}")


def same_set(actual: Value, expected: Value, what: str) -> None:
    """Two lists hold the same texts, each once, in whatever order."""
    if not isinstance(expected, list):
        raise TypeError(f"{what}: the reference gives a {kind(expected)}, not a list")
    if not isinstance(actual, list):
        raise Mismatch(f"{what}: expected a collection, got {kind(actual)}")
    if len(actual) != len(set(map(str, actual))):
        raise Mismatch(f"{what}: {len(actual) - len(set(map(str, actual)))} are there twice")
    _same_keys([str(item) for item in actual], [str(item) for item in expected], what)


def _same_keys(actual: list[str], expected: list[str], what: str) -> None:
    here, there = set(actual), set(expected)
    missing = [key for key in expected if key not in here]
    extra = [key for key in actual if key not in there]
    if missing or extra:
        told = [f"{len(missing)} missing, such as {_list(missing)}"] if missing else []
        told += [f"{len(extra)} too many, such as {_list(extra)}"] if extra else []
        raise Mismatch(f"{what}: {'; '.join(told)}")


def is_number(text: str) -> bool:
    """Whether a text is a number and nothing else."""
    return _NUMBER.fullmatch(text.strip()) is not None


def number(value: Value, what: str) -> float:
    """A number that came as a number, as its text, or as a tensor of one entry."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.dtype != torch.bool:
        value = value.item()
    if isinstance(value, str) and is_number(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(f"{what}: expected a number, got {_show(value)}")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise Mismatch(f"{what}: expected a number of a sensible size, got a far larger one")
    if not math.isfinite(value):
        raise Mismatch(f"{what}: expected a finite number, got {value}")
    return float(value)


def within(actual: Value, expected: Value, what: str, band: float) -> None:
    """A number is at most `band` away from the reference's."""
    try:
        theirs = number(expected, "the reference")
    except Mismatch as problem:
        raise TypeError(f"{what}: {problem}") from None
    _note(band)
    mine = number(actual, what)
    if abs(mine - theirs) > band + 1e-12:
        allowed = f" give or take {band:g}" if band else ""
        raise Mismatch(
            f"{what}: expected {theirs:.8g}{allowed}, got {mine:.8g} "
            f"({abs(mine - theirs):.4g} away)"
        )


def numbers(text: str) -> list[float]:
    """The numbers that stand in a text, in order."""
    return [float(found) for found in _NUMBER.findall(text)]


def kind(value: Value) -> str:
    """What a value is, in a student's words."""
    names = {bool: "True or False", int: "a whole number", float: "a number", str: "text"}
    names |= {list: "a list", dict: "a dict", torch.Tensor: "a tensor"}
    return "None" if value is None else names[type(value)]


def _show(value: Value) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {_shape(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _list(items: Sequence[str]) -> str:
    return ", ".join(_show(item) for item in items[:_SHOWN])


def _family(tensor: torch.Tensor) -> str:
    if tensor.dtype.is_floating_point:
        return "floating"
    return "boolean" if tensor.dtype is torch.bool else "whole"


def _shape(tensor: torch.Tensor) -> str:
    return str(list(tensor.shape))


def _index(index: torch.Tensor) -> str:
    return str(index.tolist())
