"""Values taken apart, so that two can be compared piece by piece: `leaves(value) -> leaf by path`.

A leaf is a tensor (a list of numbers is one too), or the words of a text or of a list of texts. Two
leaves are compared by `gap`, and `odds` says how much it tells that a value is one and not the
other.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import torch

from grader.compare import Mismatch, number
from grader.records import Value

#: The largest difference at which two numbers are the same: the loosest that a lab's checks allow.
CLOSE = 1e-4
#: What fractions differ by at least where it tells something: a row in a thousand.
GRAIN = 1e-3
#: Of what is printed, lines that are looked at.
_LINES = 200
_TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)|\w+")
_LARGEST = 2**53  #: beyond it a whole number has no exact float


@dataclass(frozen=True)
class Words:
    """A text, or a list of texts, as its words."""

    words: tuple[str, ...]


Leaf: TypeAlias = "torch.Tensor | Words"


def leaves(value: Value, path: str = "") -> dict[str, Leaf]:
    """The leaves of a value by path, such as `[mean 0][rows]`."""
    if isinstance(value, dict) and value:
        found: dict[str, Leaf] = {}
        for key, item in value.items():
            found |= leaves(item, f"{path}[{key}]")
        return found
    if isinstance(value, list) and value:
        if all(isinstance(item, str) for item in value) and _numbers(value) is None:
            return {path: Words(tuple(map(str, value)))}
        if (vector := _numbers(value)) is not None:
            return {path: vector}
        found = {}
        for i, item in enumerate(value):
            found |= leaves(item, f"{path}[{i}]")
        return found
    if isinstance(value, torch.Tensor):
        return {path: value}
    single = _numbers([value])
    return {path: Words((str(value),)) if single is None else single[0]}


def _numbers(values: list[Value]) -> torch.Tensor | None:
    """A list of numbers, or of their texts, as a vector `[n]`; None where one is no number."""
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            return None
        try:
            found.append(number(value, ""))
        except Mismatch:
            return None
    whole = all(isinstance(value, int) for value in values)
    return torch.tensor(found, dtype=torch.float64).to(torch.int64 if whole else torch.float64)


def gap(mine: Leaf | None, theirs: Leaf | None) -> float | None:
    """The largest difference of two leaves that are the same, None where they are not."""
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return None
        largest = float(distance(mine, theirs).max()) if mine.numel() else 0.0
        return largest if largest <= _closeness(mine, theirs) else None
    return 0.0 if not isinstance(mine, torch.Tensor) and mine == theirs else None


def distance(mine: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    """How far apart the entries of two tensors of one shape are; 0 where both are not a number."""
    a, b = mine.double(), theirs.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return (a - b).abs().nan_to_num(math.inf, math.inf).masked_fill(same, 0.0)


def _closeness(mine: torch.Tensor, theirs: torch.Tensor) -> float:
    floating = mine.dtype.is_floating_point or theirs.dtype.is_floating_point
    return CLOSE if floating else 0.0


def odds(mine: Leaf | None, theirs: Leaf | None) -> float:
    """How unlikely it is to hit `mine` by chance when missing `theirs`, as a power of ten.

    A whole number counts by its distance, at most 2; any other number at most 1, and nothing where
    it is nearer than GRAIN; a word that is in one of two texts 1, and so does another kind.
    """
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return 2.0
        floating = mine.dtype.is_floating_point or theirs.dtype.is_floating_point
        grain, most = (GRAIN, 1.0) if floating else (0.5, 2.0)
        far = distance(mine, theirs).clamp_min(1e-12) / grain
        return float(far.log10().clamp(0.0, most).sum())
    if isinstance(mine, Words) and isinstance(theirs, Words):
        here, there = Counter(mine.words), Counter(theirs.words)
        return float(max(1, (here - there).total(), (there - here).total()))
    return 1.0


def entries(mine: Leaf | None, theirs: Leaf | None) -> int:
    """How many numbers or words of two leaves differ."""
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return mine.numel()
        return int((distance(mine, theirs) > _closeness(mine, theirs)).sum())
    return round(odds(mine, theirs))


@dataclass(frozen=True)
class Printed:
    """What a script printed, as its numbers and its words."""

    numbers: Mapping[str, float]  #: by how they are written
    words: frozenset[str]


def printed(output: str) -> Printed:
    """The numbers and words of the first lines of an output."""
    lines = [line for line in output.splitlines() if line.strip()][:_LINES]
    found = _TOKEN.findall("\n".join(lines))
    numbers = {token: float(token) for token in found if re.match(r"[-+]?\d", token)}
    whole = {token: n for token, n in numbers.items() if math.isfinite(n) and abs(n) < _LARGEST}
    return Printed(whole, frozenset(token.lower() for token in found if token not in numbers))


def new_in(these: Printed, others: Printed) -> tuple[dict[str, float], frozenset[str]]:
    """The numbers and words that are printed here and not there."""
    numbers = {text: n for text, n in these.numbers.items() if not has(others, text)}
    return numbers, these.words - others.words


def has(output: Printed, text: str) -> bool:
    """Whether a number is in an output, to as many decimals as both are written with."""
    wanted = float(text)
    return any(
        abs(n - wanted) <= max(_half(text), _half(other)) * (1 + 1e-6)
        for other, n in output.numbers.items()
    )


def _half(text: str) -> float:
    """Half a unit of a number's last decimal; 0 for a whole number."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0


def odds_printed(numbers: Mapping[str, float], words: frozenset[str], others: Printed) -> float:
    """`odds` of an output that has these numbers and words, where `others` has not."""
    total = float(len(words))
    for text, n in numbers.items():
        grain, most = (GRAIN, 1.0) if _half(text) else (0.5, 2.0)
        far = min((abs(n - other) for other in others.numbers.values()), default=1.0)
        total += min(most, max(0.0, math.log10(max(far, 1e-12) / grain)))
    return total
