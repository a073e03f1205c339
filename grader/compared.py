"""Puts what was lost beside what was expected: `compared(assignment, checks, ...) -> checks`.

A check says in a sentence what is wrong; here every value that it asked for is looked at again, so
that a page can show types, shapes and the entry that is furthest off, and errors by row or by name.
Each answer is told once, at the first lost check that asked for it, and only where its student may
see it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import torch

from grader.asked import OUTPUT
from grader.guarded import level
from grader.leaves import CLOSE, Leaf, Words, differ, distance, leaves
from grader.records import Assignment, Check, Compared, Run, Series, Value

MAX_ROWS = 8  #: of the table of one check; one more is kept, as a sign that there are more
_MAX_BARS = 64  #: of one series; more rows than that are put together
_MAX_ITEMS = 200  #: of a large dict that are looked at
_MAX_TEXT = 60  #: characters of a text that are shown
_ENOUGH = 3  #: numbers that are worth looking at, and rows are from one more on
NOTHING = "—"


def compared(
    assignment: Assignment,
    checks: tuple[Check, ...],
    expected: Mapping[str, Run],
    runs: tuple[Run, ...],
) -> tuple[Check, ...]:
    """The checks, each that was lost and is told in full with the values that differ.

    Args:
        assignment: how much it tells of hidden checks.
        checks: what was found, with the probes that each asked.
        expected: the reference's run by case.
        runs: the submission's.
    """
    mine = {run.case: run for run in runs}
    told: set[tuple[str, str]] = set()
    return tuple(
        _told(check, expected, mine, told)
        if check.status in ("failed", "partial") and level(assignment, check) == "all"
        else check
        for check in checks
    )


def _told(
    check: Check, expected: Mapping[str, Run], mine: Mapping[str, Run], told: set[tuple[str, str]]
) -> Check:
    rows: list[Compared] = []
    series: list[Series] = []
    for probe in check.probes:
        if probe == OUTPUT or (check.case, probe) in told:
            continue
        theirs = expected[check.case].values
        answers = mine[check.case].values
        if probe in theirs and probe in answers:
            told.add((check.case, probe))
            found = _Answer(probe, answers[probe], theirs[probe], check.allowed)
            rows += itertools.islice(found.rows(), MAX_ROWS + 1)
            series += found.series()
    return replace(check, compared=tuple(rows[: MAX_ROWS + 1]), series=tuple(series))


class _Answer:
    """A submission's answer to one probe beside the reference's, leaf by leaf."""

    def __init__(self, probe: str, mine: Value, ours: Value, allowed: float | None) -> None:
        self._probe = probe
        self._allowed = allowed
        self._names = _named(probe, ours)
        if not self._names:
            mine, ours = _different(mine, ours)
        self._mine = leaves(mine, probe)
        self._ours = leaves(ours, probe)
        self._far = {
            path: distance(here, there)
            for path, there in self._ours.items()
            if isinstance(there, torch.Tensor)
            and isinstance(here := self._mine.get(path), torch.Tensor)
            and here.shape == there.shape
        }
        self._largest = {
            path: float(far.max()) if far.numel() else 0.0 for path, far in self._far.items()
        }
        self._lost = [path for path in {**self._ours, **self._mine} if self._off(path)]

    def _off(self, path: str) -> bool:
        """Whether two leaves differ by more than the check allows."""
        here, there = self._mine.get(path), self._ours.get(path)
        if path not in self._far:
            return differ(here, there)
        floating = any(
            isinstance(leaf, torch.Tensor) and leaf.dtype.is_floating_point
            for leaf in (here, there)
        )
        default = CLOSE if floating else 0.0
        allowed = default if self._allowed is None else self._allowed
        return self._largest[path] > allowed + 1e-12

    def rows(self) -> Iterator[Compared]:
        """A row for each leaf that differs, in the reference's order, what is too many last."""
        for path in self._lost:
            here, there = self._mine.get(path), self._ours.get(path)
            if path in self._far and self._far[path].numel():
                far = self._far[path]
                place, error = int(far.argmax()), _number(self._largest[path], 3)
                yield Compared(_short(path), _entry(there, place), _entry(here, place), error)
            elif isinstance(here, Words) and isinstance(there, Words):
                yield Compared(_short(path), *_words(here, there), "")
            else:
                yield Compared(_short(path), _kind(there), _kind(here), "")

    def series(self) -> Iterator[Series]:
        """What is better looked at: numbers by name, or errors by name, or by row."""
        names, ours = self._names, self._ours
        if not any(path in ours for path in self._lost):
            return
        labels = tuple(path.removeprefix(self._probe)[1:-1] for path in names)
        if names and all(_value(ours.get(path)) is not None for path in names):
            numbers = [_value(self._mine.get(path)) for path in names]
            theirs = tuple(n for path in names if (n := _value(ours[path])) is not None)
            yield Series("numbers", self._probe, labels, _round(numbers), theirs, self._allowed)
        elif names:
            errors = [self._error_below(path) for path in names]
            yield Series("names", self._probe, labels, _round(errors), allowed=self._allowed)
        elif matrices := [path for path in self._lost if self._has_rows(path)]:
            worst = max(matrices, key=self._largest.__getitem__)
            errors_by_row = self._far[worst].amax(1).tolist()
            size = math.ceil(len(errors_by_row) / _MAX_BARS)
            starts = range(0, len(errors_by_row), size)
            bars = [max(errors_by_row[i : i + size]) for i in starts]
            yield Series(
                "rows", worst, tuple(map(str, starts)), _round(bars), allowed=self._allowed
            )

    def _error_below(self, name: str) -> float | None:
        """The largest error of the leaves of one item; None where one has no such error."""
        found = [
            self._largest.get(path)
            for path, leaf in self._ours.items()
            if path.startswith(name) and isinstance(leaf, torch.Tensor)
        ]
        errors = [error for error in found if error is not None]
        return max(errors, default=0.0) if len(errors) == len(found) else None

    def _has_rows(self, path: str) -> bool:
        """Whether a leaf is a matrix `[rows, hidden]` of measured numbers."""
        far, ours = self._far.get(path), self._ours.get(path)
        return (
            far is not None
            and isinstance(ours, torch.Tensor)
            and ours.dtype.is_floating_point
            and far.dim() == 2
            and len(far) > _ENOUGH
            and far.shape[1] > 0
        )


def _named(probe: str, value: Value) -> list[str]:
    """The paths of an answer's items where it has a few, each by its name."""
    if isinstance(value, dict) and _ENOUGH <= len(value) <= _MAX_BARS:
        return [f"{probe}[{key}]" for key in value]
    return []


def _different(mine: Value, ours: Value) -> tuple[Value, Value]:
    """Of two large dicts the first items that are not the same; of anything else all."""
    if not (isinstance(mine, dict) and isinstance(ours, dict)):
        return mine, ours
    keys = (
        key
        for key in {**ours, **mine}
        if key not in mine or key not in ours or not _same(mine[key], ours[key])
    )
    some = list(itertools.islice(keys, _MAX_ITEMS))
    here = {key: mine[key] for key in some if key in mine}
    there = {key: ours[key] for key in some if key in ours}
    return here, there


def _same(mine: Value, ours: Value) -> bool:
    """Whether two plain values are equal in type and content; tensors are left to be compared."""
    if type(mine) is not type(ours) or isinstance(mine, torch.Tensor | dict):
        return False
    if isinstance(mine, list) and isinstance(ours, list):
        return len(mine) == len(ours) and all(map(_same, mine, ours))
    return mine == ours


def _entry(leaf: Leaf | None, place: int) -> str:
    """One entry of a tensor, by its place in the flat one, after type and shape."""
    if not isinstance(leaf, torch.Tensor):
        return NOTHING
    entry = _number(leaf.flatten()[place].item())
    if not leaf.dim():
        return entry
    index = [int(axis) for axis in torch.unravel_index(torch.tensor(place), leaf.shape)]
    return f"{_kind(leaf)}, {index} = {entry}"


def _words(here: Words, there: Words) -> tuple[str, str]:
    """Two texts, or of two lists of texts their lengths and the first place where they differ."""
    if len(here.words) == len(there.words) == 1:
        return _clip(there.words[0]), _clip(here.words[0])
    pairs = zip(here.words, there.words, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if first is None:
        first = min(len(here.words), len(there.words))
    return _item(there, first), _item(here, first)


def _item(words: Words, place: int) -> str:
    item = _clip(words.words[place]) if place < len(words.words) else NOTHING
    return f"list[{len(words.words)}], [{place}] = {item}"


def _kind(leaf: Leaf | None) -> str:
    """A number or a text as it is, of anything larger its type and shape."""
    if leaf is None:
        return NOTHING
    if isinstance(leaf, Words):
        return f"list[{len(leaf.words)}]" if len(leaf.words) != 1 else _clip(leaf.words[0])
    if not leaf.dim():
        return _number(leaf.item())
    return f"{str(leaf.dtype).removeprefix('torch.')} {list(leaf.shape)}"


def _number(value: float, digits: int = 6) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{digits}g}"


def _clip(text: str) -> str:
    return _short(repr(text[:_MAX_TEXT]))


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _value(leaf: Leaf | None) -> float | None:
    single = isinstance(leaf, torch.Tensor) and not leaf.dim()
    return float(leaf) if single else None  # type: ignore[arg-type]


def _round(numbers: Iterable[float | None]) -> tuple[float | None, ...]:
    """Three digits, so that the same mistake is drawn the same; None for what is not finite."""
    return tuple(float(f"{n:.3g}") if n is not None and math.isfinite(n) else None for n in numbers)
