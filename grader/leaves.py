"""Values taken apart, so that two can be compared piece by piece: `leaves(value) -> leaf by path`.

A leaf is a tensor (a list of numbers is one too), or the words of a text or of a list of texts. Two
leaves are compared by `gap`, and `odds` says how much it tells that a value is one and not the
other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import torch

from grader.compare import Mismatch, is_number, number
from grader.records import Run, Value

#: The largest difference at which two numbers are the same, unless the checks allow still less: the
#: loosest that a lab's checks allow.
CLOSE = 1e-4
#: How many times what is the same numbers differ by at least where it tells something: with CLOSE a
#: row in a thousand.
GRAIN = 10
_FAULT = "fault"  #: the path of the reason why there is no answer


@dataclass(frozen=True)
class Words:
    """A text, or a list of texts, as its words."""

    words: tuple[str, ...]


Leaf: TypeAlias = "torch.Tensor | Words"


def leaves(value: Value, path: str = "") -> dict[str, Leaf]:
    """The leaves of a value by path, such as `[mean 0][rows]`."""
    return dict(_leaves(value, path))


def _leaves(value: Value, path: str) -> Iterator[tuple[str, Leaf]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}[{key}]")
    elif isinstance(value, list) and value:
        if (vector := _numbers(value)) is not None:
            yield path, vector
        elif set(map(type, value)) <= {str}:
            yield path, Words(tuple(map(str, value)))
        else:
            for i, item in enumerate(value):
                yield from _leaves(item, f"{path}[{i}]")
    elif isinstance(value, torch.Tensor):
        yield path, value
    else:
        single = _numbers([value])
        yield path, Words((str(value),)) if single is None else single[0]


def answers(run: Run) -> dict[str, dict[str, Leaf]]:
    """The leaves of each answer of a run; where a probe raised, the first line of the reason."""
    found = {probe: leaves(value) for probe, value in run.values.items()}
    for probe, reason in run.faults.items():
        found[probe] = {_FAULT: Words((reason.partition("\n")[0],))}
    return found


def _numbers(values: list[Value]) -> torch.Tensor | None:
    """A list of numbers, or of their texts, as a vector `[n]`; None where one is no number."""
    kinds = set(map(type, values))
    if kinds == {int} and max(abs(int(value)) for value in values) < 2**53:  # type: ignore[arg-type]
        return torch.tensor(values, dtype=torch.int64)  # what most lists are, at once
    words = (value for value in values if isinstance(value, str))
    if not kinds <= {int, float, str} or not all(map(is_number, words)):
        return None
    found = []
    for value in values:
        try:
            found.append(number(value, ""))
        except Mismatch:
            return None
    return torch.tensor(found, dtype=torch.float64)


def gap(mine: Leaf | None, theirs: Leaf | None, near: float = CLOSE) -> float | None:
    """The largest difference of two leaves that are the same, None where they are not.

    Measured numbers are the same within `near`.
    """
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return None
        if bool((mine == theirs).all()):
            return 0.0
        allowed = near if _measured(mine, theirs) else 0.0
        largest = float(distance(mine, theirs).max()) if allowed else math.inf
        return largest if largest <= allowed else None
    texts = not isinstance(mine, torch.Tensor) and not isinstance(theirs, torch.Tensor)
    return 0.0 if texts and mine == theirs else None


def distance(mine: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    """How far apart the entries of two tensors of one shape are; 0 where both are not a number."""
    a, b = mine.double(), theirs.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return (a - b).abs().nan_to_num(math.inf, math.inf).masked_fill(same, 0.0)


def _measured(mine: torch.Tensor, theirs: torch.Tensor) -> bool:
    return mine.dtype.is_floating_point or theirs.dtype.is_floating_point


def odds(mine: Leaf | None, theirs: Leaf | None, near: float = CLOSE) -> float:
    """How unlikely it is to hit `mine` by chance when missing `theirs`, as a power of ten.

    A whole number counts by its distance, at most 2; any other number at most 1, and nothing where
    it is nearer than GRAIN times `near`; a word that is in one of two texts 1, and so does another
    kind.
    """
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return 2.0
        grain, most = (GRAIN * near, 1.0) if _measured(mine, theirs) else (0.5, 2.0)
        far = distance(mine, theirs).clamp_min(1e-12) / grain
        return float(far.log10().clamp(0.0, most).sum())
    if isinstance(mine, Words) and isinstance(theirs, Words):
        here, there = Counter(mine.words), Counter(theirs.words)
        return float(max(1, (here - there).total(), (there - here).total()))
    return 1.0


def _count(mine: Leaf | None, theirs: Leaf | None, near: float) -> int:
    """How many numbers or words of two leaves differ."""
    if isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if mine.shape != theirs.shape:
            return mine.numel()
        allowed = near if _measured(mine, theirs) else 0.0
        return int((distance(mine, theirs) > allowed).sum())
    return round(odds(mine, theirs))


@dataclass(frozen=True)
class Difference:
    """How a mistake's answer to one probe differs from the reference's."""

    marks: Mapping[str, Leaf | None]  #: the mistake's leaves that are not the reference's, by path
    ours: Mapping[str, Leaf | None]  #: the reference's, by the same paths
    odds: float  #: how unlikely it is to hit all of them by chance, as a power of ten
    count: int  #: how many numbers and words they are
    near: float  #: within which measured numbers are the same

    def made(self, mine: Mapping[str, Leaf]) -> float | None:
        """The largest difference of an answer that has all of the marks; None where it has not."""
        return _largest(mine, self.marks, self.near)

    def right(self, mine: Mapping[str, Leaf]) -> bool:
        """Whether an answer has the reference's leaves instead."""
        return _largest(mine, self.ours, self.near) is not None


def difference(
    theirs: Mapping[str, Leaf], ours: Mapping[str, Leaf], near: float = CLOSE
) -> Difference | None:
    """How a mistake's leaves differ from the reference's; None where they do not."""
    paths = [path for path in {**ours, **theirs} if differ(theirs.get(path), ours.get(path), near)]
    if not paths:
        return None
    pairs = [(theirs.get(path), ours.get(path)) for path in paths]
    return Difference(
        marks={path: theirs.get(path) for path in paths},
        ours={path: ours.get(path) for path in paths},
        odds=1.0 if _FAULT in theirs else sum(odds(*pair, near) for pair in pairs),
        count=1 if _FAULT in theirs else sum(_count(*pair, near) for pair in pairs),
        near=near,
    )


def differ(mine: Leaf | None, theirs: Leaf | None, near: float = CLOSE) -> bool:
    """Whether two leaves are not the same."""
    return gap(mine, theirs, near) is None


def _largest(
    mine: Mapping[str, Leaf], wanted: Mapping[str, Leaf | None], near: float
) -> float | None:
    largest = 0.0
    for path, leaf in wanted.items():
        found = gap(mine.get(path), leaf, near)
        if found is None:
            return None
        largest = max(largest, found)
    return largest
