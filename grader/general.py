"""Mistakes on a value itself, which no lab need know: `mistake(mine, ours) -> name and words`.

Each looks at one tensor and the reference's and says what was done, or None. At least ENOUGH
different numbers must agree that would not without it, so that a few that meet by chance say
nothing; a percentage is certain by itself, since a hundred times a given fraction is met to 4
decimals once in ten thousand.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from grader.leaves import CLOSE, Leaf, differ, distance

ENOUGH = 8
_MAX_ROWS = 2000  #: more are not looked through for another order
_BATCHES = (256, 128, 64, 32, 16, 8)


def mistake(mine: Mapping[str, Leaf], ours: Mapping[str, Leaf]) -> tuple[str, str, str] | None:
    """What explains every leaf that is not the reference's: its name, a sentence, the evidence.

    Leaves of whole numbers, such as shapes, follow from others where there are others. Of these one
    must show the mistake; any other shows it as well or has another shape than the reference's.
    """
    lost = [
        (here, there)
        for path, there in ours.items()
        if isinstance(there, torch.Tensor)
        and isinstance(here := mine.get(path), torch.Tensor)
        and differ(here, there)
    ]
    lost = [pair for pair in lost if pair[1].dtype.is_floating_point] or lost
    texts = [path for path in ours if differ(mine.get(path), ours[path])]
    if not lost or any(not isinstance(ours[path], torch.Tensor) for path in texts):
        return None
    for name, (sentence, look) in _GENERAL.items():
        found = [look(*pair) for pair in lost]
        details = [detail for detail in found if detail]
        unlike = [
            pair
            for pair, detail in zip(lost, found, strict=True)
            if not detail and pair[0].shape == pair[1].shape
        ]
        if details and not unlike:
            return name, sentence, details[0]
    return None


def _agreeing(shown: torch.Tensor, mine: torch.Tensor, ours: torch.Tensor, free: int = 0) -> bool:
    """Whether mine is what is shown, all of it, and at least ENOUGH entries say so.

    Args:
        shown: the reference's value with the mistake in it.
        mine: the submission's.
        ours: the reference's.
        free: numbers that were fitted, and so agree of themselves.
    """
    if shown.shape != mine.shape or bool((distance(shown, mine) > CLOSE).any()):
        return False
    told = shown.flatten()
    if ours.shape == shown.shape:
        told = told[(distance(shown, ours) > 10 * CLOSE).flatten()]
    return _different(told) >= ENOUGH + free


def _different(numbers: torch.Tensor) -> int:
    return len(set(numbers.flatten().tolist()))


def _close(shown: torch.Tensor, mine: torch.Tensor) -> str:
    largest = float(distance(shown, mine).max())
    return f"{mine.numel():,} entries agree then" + (f" within {largest:.0e}" if largest else "")


def _transposed(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    if ours.dim() != 2 or min(ours.shape) < 2:
        return None
    return _close(ours.T, mine) if _agreeing(ours.T, mine, ours) else None


def _percent(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    if mine.shape != ours.shape or not bool(((ours > 0) & (ours <= 1)).all()):
        return None
    shown = 100 * ours.double()
    return _close(shown, mine) if bool((distance(shown, mine) <= 0.00501).all()) else None


def _scaled(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    a, b = mine.double(), ours.double()
    if a.shape != b.shape or not bool(a.isfinite().all()) or not float((b * b).sum()):
        return None
    factor = float((a * b).sum() / (b * b).sum())
    if not 1e-2 < abs(factor) < 1e4 or abs(factor - 1) < 1e-2:
        return None
    shown = factor * b
    unit = max(1, abs(factor))
    fits = _agreeing(shown / unit, a / unit, b / unit, free=1)
    return f"by {factor:.4g}; {_close(shown, a)}" if fits else None


def _shifted(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    if mine.shape != ours.shape or not mine.numel():
        return None
    amount = float((mine.double() - ours.double()).median())
    if not 10 * CLOSE <= abs(amount) < float("inf"):
        return None
    shown = ours.double() + amount
    fits = _agreeing(shown, mine, ours, free=1)
    return f"by {amount:.4g}; {_close(shown, mine)}" if fits else None


def _reordered(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    """Another order of the rows, each of which is there once."""
    rows = len(ours) if ours.dim() == 2 else 0
    if mine.shape != ours.shape or not 2 <= rows <= _MAX_ROWS:
        return None
    far = torch.cdist(mine.double(), ours.double(), p=float("inf"))  # [rows, rows]
    order = far.argmin(1)
    if _different(order) < rows or not _agreeing(ours[order], mine, ours):
        return None
    by = int(order[0])
    rolled = torch.equal(order, (torch.arange(rows) + by) % rows)
    moved = int((order != torch.arange(rows)).sum())
    where = f"moved along by {by}" if rolled else f"{moved} of {rows} are elsewhere"
    return f"{where}; {_close(ours[order], mine)}"


def _normalized(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    if ours.dim() != 2 or not ours.dtype.is_floating_point or ours.shape[1] < 2:
        return None
    wide = ours.double()
    ways = {
        "to length 1": torch.nn.functional.normalize(wide),
        "by softmax": wide.softmax(1),
        "to mean 0 and variance 1": torch.nn.functional.layer_norm(wide, wide.shape[1:]),
    }
    for how, shown in ways.items():
        if _agreeing(shown, mine, ours):
            return f"{how}; {_close(shown, mine)}"
    return None


def _narrow(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    """Rounded to half precision, which a later conversion does not undo, or to whole numbers."""
    if mine.shape != ours.shape or not ours.dtype.is_floating_point:
        return None
    wide = mine.double()
    if not mine.dtype.is_floating_point:
        cut = ours.double().trunc()
        return f"as {mine.dtype}" if _agreeing(cut, wide, ours) else None
    for dtype, precision in ((torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11)):
        off = distance(mine, ours)
        fits = bool((off <= precision * ours.double().abs() + 1e-6).all())
        many = int((off > CLOSE).sum()) >= ENOUGH and mine.numel() >= 8 * ENOUGH
        if fits and many and torch.equal(wide.to(dtype).double(), wide):
            return f"to {dtype}; {mine.numel():,} entries have no more digits than that"
    return None


def _cut_short(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    """The rows of full batches are there, those of a last, smaller one are not."""
    if mine.dim() != ours.dim() or not mine.dim() or not 0 < len(mine) < len(ours):
        return None
    rest = len(ours) - len(mine)
    sizes = [size for size in _BATCHES if len(mine) % size == 0 and rest < size]
    if not sizes or not _agreeing(ours[: len(mine)], mine, ours):
        return None
    return f"the last {rest} of {len(ours)}; {_close(ours[: len(mine)], mine)}"


def _one_row(mine: torch.Tensor, ours: torch.Tensor) -> str | None:
    if mine.shape != ours.shape or ours.dim() != 2 or len(ours) < 4:
        return None
    off = (distance(mine, ours) > CLOSE).any(1)
    if int(off.sum()) != 1 or _different(ours[~off]) < ENOUGH:
        return None
    return f"row {int(off.nonzero())} of {len(ours)}"


#: By name: what was done, in words that follow "Compared with what was asked for,", and its test.
_GENERAL = {
    "transposed": ("rows and columns are exchanged", _transposed),
    "percent": ("there are percentages where fractions were asked for", _percent),
    "last_batch_dropped": ("the rows of a last, smaller batch are missing", _cut_short),
    "one_row_wrong": ("all rows are right but one", _one_row),
    "other_order": ("the rows are right but in another order", _reordered),
    "normalized_again": ("each row is normalized once more than was asked", _normalized),
    "other_dtype": ("the values are right but rounded to a narrower type", _narrow),
    "scaled": ("all values are multiplied by the same factor", _scaled),
    "shifted": ("the same amount is added to all values", _shifted),
}
