"""Puts what was lost beside what was expected: `compared(checks, expected, runs) -> checks`.

A check says in a sentence what is wrong; here every value that it asked for is looked at again, so
that a page can show types, shapes and the entry that is furthest off, and errors by row or by name.
Each answer is told once, at the first lost check that asked for it. What belongs to hidden cases is
kept with the grade, which is the instructor's; `feedback` decides what a student sees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import torch

from grader.asked import OUTPUT
from grader.leaves import CLOSE, Leaf, Words, differ, distance, leaves
from grader.records import Check, Compared, Run, Series, Value

MAX_ROWS = 8  #: of the table of one check; one more is kept, as a sign that there are more
_MAX_BARS = 64  #: of one series; more rows than that are put together
_MAX_TEXT = 60  #: characters of a text that are shown
_ENOUGH = 3  #: numbers that are worth looking at, and rows are from one more on
NOTHING = "—"


def compared(
    checks: tuple[Check, ...], expected: Mapping[str, Run], runs: tuple[Run, ...]
) -> tuple[Check, ...]:
    """The checks, each that was lost with the values that differ.

    Args:
        checks: what was found, with the probes that each asked.
        expected: the reference's run by case.
        runs: the submission's.
    """
    mine = {run.case: run for run in runs}
    told: set[tuple[str, str]] = set()
    return tuple(_told(check, expected, mine, told) for check in checks)


def _told(
    check: Check, expected: Mapping[str, Run], mine: Mapping[str, Run], told: set[tuple[str, str]]
) -> Check:
    if check.status not in ("failed", "partial"):
        return check
    rows: list[Compared] = []
    series: list[Series] = []
    for probe in check.probes:
        if probe == OUTPUT or (check.case, probe) in told:
            continue
        theirs = expected[check.case].values
        answers = mine[check.case].values
        if probe in theirs and probe in answers:
            told.add((check.case, probe))
            here, there = leaves(answers[probe], probe), leaves(theirs[probe], probe)
            rows += itertools.islice(_rows(here, there, check.allowed), MAX_ROWS + 1)
            series += _series(probe, answers[probe], theirs[probe], here, there, check.allowed)
    return replace(check, compared=tuple(rows[: MAX_ROWS + 1]), series=tuple(series))


def _rows(
    mine: Mapping[str, Leaf], ours: Mapping[str, Leaf], allowed: float | None
) -> Iterator[Compared]:
    """A row for each leaf that differs, in the reference's order, what is too many last."""
    for path in {**ours, **mine}:
        here, there = mine.get(path), ours.get(path)
        if not _off(here, there, allowed):
            continue
        if isinstance(here, torch.Tensor) and isinstance(there, torch.Tensor):
            yield Compared(_short(path), *_tensors(here, there))
        elif isinstance(here, Words) and isinstance(there, Words):
            yield Compared(_short(path), *_words(here, there), "")
        else:
            yield Compared(_short(path), _kind(there), _kind(here), "")


def _off(here: Leaf | None, there: Leaf | None, allowed: float | None) -> bool:
    """Whether two leaves differ by more than the check allows."""
    if isinstance(here, torch.Tensor) and isinstance(there, torch.Tensor):
        if here.shape != there.shape:
            return True
        floating = here.dtype.is_floating_point or there.dtype.is_floating_point
        bound = allowed if allowed is not None else CLOSE if floating else 0.0
        return bool((distance(here, there) > bound + 1e-12).any())
    return differ(here, there)


def _tensors(here: torch.Tensor, there: torch.Tensor) -> tuple[str, str, str]:
    """Two tensors by type, shape and the entry that is furthest off, and how far it is."""
    if here.shape != there.shape or not here.numel():
        return _kind(there), _kind(here), ""
    far = distance(here, there)
    worst = int(far.argmax())
    texts = []
    for tensor in (there, here):
        entry = _number(tensor.flatten()[worst].item())
        if tensor.dim():
            place = [int(axis) for axis in torch.unravel_index(torch.tensor(worst), far.shape)]
            entry = f"{_kind(tensor)}, {place} = {entry}"
        texts.append(entry)
    return texts[0], texts[1], _number(float(far.max()), 3)


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


def _series(
    probe: str,
    mine: Value,
    ours: Value,
    here: Mapping[str, Leaf],
    there: Mapping[str, Leaf],
    allowed: float | None,
) -> Iterator[Series]:
    """What of one answer is better looked at: numbers by name, errors by name, errors by row."""
    lost = [path for path in there if _off(here.get(path), there[path], allowed)]
    names = _named(probe, ours)
    if not lost or not isinstance(mine, type(ours)):
        return
    if names and all(_scalar(there.get(path)) for path in names):
        numbers = [_value(here.get(path)) for path in names]
        theirs = tuple(n for path in names if (n := _value(there[path])) is not None)
        yield Series("numbers", probe, _keys(names, probe), _round(numbers), theirs, allowed)
        return
    if len(names) >= _ENOUGH:
        errors = [_error_below(path, here, there) for path in names]
        if any(errors):
            yield Series("names", probe, _keys(names, probe), _round(errors), allowed=allowed)
    matrices = [path for path in lost if _by_row(here.get(path), there[path])]
    if matrices:
        worst = max(matrices, key=lambda path: float(distance(here[path], there[path]).max()))  # type: ignore[arg-type]
        rows = distance(here[worst], there[worst]).amax(1).tolist()  # type: ignore[arg-type]
        size = math.ceil(len(rows) / _MAX_BARS)
        bars = [max(rows[i : i + size]) for i in range(0, len(rows), size)]
        labels = tuple(str(i) for i in range(0, len(rows), size))
        yield Series("rows", worst, labels, _round(bars), allowed=allowed)


def _named(probe: str, value: Value) -> list[str]:
    """The paths of an answer's items where it has a few, each by its name."""
    if isinstance(value, dict) and _ENOUGH <= len(value) <= _MAX_BARS:
        return [f"{probe}[{key}]" for key in value]
    return []


def _keys(paths: Iterable[str], probe: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(probe)[1:-1] for path in paths)


def _scalar(leaf: Leaf | None) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dim() == 0


def _value(leaf: Leaf | None) -> float | None:
    return float(leaf) if isinstance(leaf, torch.Tensor) and leaf.numel() == 1 else None


def _error_below(name: str, here: Mapping[str, Leaf], there: Mapping[str, Leaf]) -> float | None:
    """The largest error of the leaves of one item; None where one has no such error."""
    largest = 0.0
    for path, ours in there.items():
        if not path.startswith(name) or not isinstance(ours, torch.Tensor) or not ours.numel():
            continue
        mine = here.get(path)
        if not isinstance(mine, torch.Tensor) or mine.shape != ours.shape:
            return None
        largest = max(largest, float(distance(mine, ours).max()))
    return largest


def _by_row(here: Leaf | None, there: Leaf) -> bool:
    """Whether two leaves are matrices `[rows, hidden]` of one shape, of measured numbers."""
    tensors = isinstance(here, torch.Tensor) and isinstance(there, torch.Tensor)
    return (
        tensors
        and here.shape == there.shape  # type: ignore[union-attr]
        and there.dim() == 2  # type: ignore[union-attr]
        and len(there) > _ENOUGH  # type: ignore[arg-type]
        and there.dtype.is_floating_point  # type: ignore[union-attr]
        and there.shape[1] > 0  # type: ignore[union-attr]
    )


def _round(numbers: Iterable[float | None]) -> tuple[float | None, ...]:
    """Three digits, so that the same mistake is drawn the same; None for what is not finite."""
    return tuple(float(f"{n:.3g}") if n is not None and math.isfinite(n) else None for n in numbers)
