"""Plots: `plot(series, words)` says what is in one, `svg(plot)` draws it.

A plot is plain data, with a title that tells what can be read from it and a line of block
characters, which are all of it in Markdown and in a terminal. Drawing is matplotlib's, in figure
coordinates and without its axes, which cost ten times as much; the labels are the page's own. Equal
plots are drawn once, and matplotlib, which takes a second to import, only where there is one.
"""

from __future__ import annotations

import functools
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from grader.leaves import CLOSE
from grader.records import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plot: TypeAlias = dict[str, Any]
Polygon: TypeAlias = list[tuple[float, float]]

_BLOCKS = "▁▂▃▄▅▆▇█"
_MISSING = "×"
_MIN_STEPS, _MAX_STEPS = 5, 400  #: of a training curve
_LOSS = re.compile(r"\bloss\b[^\d\n-]{0,20}(-?\d{1,9}(?:\.\d{1,17})?(?:e[-+]?\d{1,3})?)", re.I)
#: Colours that stand for those of the page, which differ in light and dark.
_GOOD, _BAD, _INK = "#000001", "#000002", "#000003"
_COLOURS = {_GOOD: "var(--good)", _BAD: "var(--bad)", _INK: "currentColor"}
_WIDTH = 6.0  #: inches; a page stretches it


def plot(series: Series, words: Mapping[str, str]) -> Plot:
    """What a series shows."""
    allowed = CLOSE if series.allowed is None else series.allowed
    errors: list[float | None] = list(series.received)
    name, spark = f"error_by_{series.kind.removesuffix('s')}", [["", _levels(errors, allowed)]]
    if series.kind == "numbers":
        errors = [
            None if mine is None else abs(mine - theirs)
            for mine, theirs in zip(series.received, series.expected, strict=True)
        ]
        name = "numbers_by_name" if series.allowed is None else "numbers_band"
        both = [*series.expected, *series.received]
        spark = [
            [words["expected"], _heights(series.expected, both)],
            [words["received"], _heights(series.received, both)],
        ]
    far = [math.inf if error is None else error for error in errors]
    worst = far.index(max(far))
    title = words[name].format(
        what=series.what,
        off=sum(error > allowed + 1e-12 for error in far),
        count=len(far),
        worst=series.names[worst],
        largest=words["not_a_number"] if math.isinf(far[worst]) else f"{far[worst]:.3g}",
    )
    return {
        "kind": series.kind,
        "title": title,
        "names": list(series.names),
        "received": list(series.received),
        "expected": list(series.expected),
        "allowed": allowed,
        "spark": spark,
    }


def curve(output: str, words: Mapping[str, str]) -> Plot | None:
    """The losses that a script printed, one a line, as a curve; None where there are too few."""
    found = [_LOSS.search(line[:300]) for line in output.splitlines()]
    losses = [float(f"{float(one[1]):.3g}") for one in found if one][:_MAX_STEPS]
    if len(losses) < _MIN_STEPS or not all(map(math.isfinite, losses)):
        return None
    title = words["curve"].format(count=len(losses), first=f"{losses[0]:g}", last=f"{losses[-1]:g}")
    return {
        "kind": "curve",
        "title": title,
        "names": ["1", str(len(losses))],
        "received": losses,
        "expected": [],
        "allowed": None,
        "spark": [["", _heights(losses[:: math.ceil(len(losses) / 64)], losses)]],
    }


def _levels(errors: Sequence[float | None], allowed: float) -> str:
    """A block for each error, by its logarithm; the lowest where it is allowed."""
    shares = _shares(errors, allowed)
    return "".join(
        _MISSING if share is None else _BLOCKS[round(share * (len(_BLOCKS) - 1))]
        for share in shares
    )


def _shares(errors: Sequence[float | None], allowed: float) -> list[float | None]:
    """How far each error is from what is allowed, 0, to the largest, 1, by their logarithms."""
    least = max(allowed, 1e-12)
    largest = max((error for error in errors if error is not None), default=least)
    span = math.log(max(largest / least, 1.0)) or 1.0

    def share(error: float) -> float:
        return 0.0 if error <= least else min(1.0, 0.2 + 0.8 * math.log(error / least) / span)

    return [None if error is None else share(error) for error in errors]


def _heights(numbers: Sequence[float | None], among: Sequence[float | None]) -> str:
    """A block for each number, from the least to the largest of all."""
    low, span = _range(among)
    return "".join(
        _MISSING if n is None else _BLOCKS[round((n - low) / span * (len(_BLOCKS) - 1))]
        for n in numbers
    )


def _range(numbers: Sequence[float | None]) -> tuple[float, float]:
    """The least of some numbers, and how far the largest is from it."""
    there = [n for n in numbers if n is not None] or [0.0]
    return min(there), (max(there) - min(there)) or 1.0


def svg(shown: Plot) -> str:
    """A plot as SVG to stand in a page: no colours, sizes or ids of its own."""
    return _svg(json.dumps(shown, sort_keys=True))


@functools.lru_cache(maxsize=4096)
def _svg(text: str) -> str:
    from matplotlib.figure import Figure  # a second to import

    shown = json.loads(text)
    height = 0.4 if shown["kind"] in ("rows", "names") else 1.6
    figure = Figure(figsize=(_WIDTH, height))
    figure.patch.set_visible(False)
    _DRAWN[shown["kind"]](figure, shown)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return _bare(stream.getvalue())


def _bare(text: str) -> str:
    """What matplotlib wrote, without what belongs to a file of its own."""
    start = text.index("<svg")
    box = re.search(r'viewBox="[^"]*"', text[start:])
    body = text[text.index(">", start) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>|<defs>.*?</defs>|<!--.*?-->", "", body, flags=re.S)
    body = re.sub(r' id="[^"]*"', "", body)
    body = re.sub(r">\s+<", "><", body)
    body = re.sub(r"\s*\n\s*", " ", body).strip()
    body = re.sub(r"(\.\d\d)\d+", r"\1", body)
    for stand_in, colour in _COLOURS.items():
        body = body.replace(stand_in, colour)
    return f'<svg {box[0] if box else ""} preserveAspectRatio="none" aria-hidden="true">{body}'


def _rows(figure: Figure, shown: Plot) -> None:
    """A strip of cells, the darker the further off."""
    shares = _shares(shown["received"], shown["allowed"])
    width = 1 / len(shares)
    by_level: dict[float, list[Polygon]] = defaultdict(list)
    for i, share in enumerate(shares):
        by_level[1.0 if share is None else round(share, 1)].append(
            _box(i * width, 0.0, width * 0.94, 1.0)
        )
    for level, cells in by_level.items():
        _fill(figure, cells, _BAD if level else _GOOD, level or 0.35)


def _numbers(figure: Figure, shown: Plot) -> None:
    """A bar of what is allowed, the expected number as a line and the received one as a dot."""
    allowed, ours, mine = shown["allowed"], shown["expected"], shown["received"]
    low, span = _range([*(n - allowed for n in ours), *(n + allowed for n in ours), *mine])
    width = 1 / len(ours)

    def height(number: float) -> float:
        return 0.06 + 0.88 * (number - low) / span

    places = [(i + 0.2) * width for i in range(len(ours))]
    bars = [
        _box(left, height(n - allowed), 0.6 * width, 2 * 0.88 * allowed / span)
        for left, n in zip(places, ours, strict=True)
    ]
    lines = [
        _box(left, height(n) - 0.008, 0.6 * width, 0.016)
        for left, n in zip(places, ours, strict=True)
    ]
    dots: dict[str, list[Polygon]] = {_GOOD: [], _BAD: []}
    for i, number in enumerate(mine):
        if number is not None:
            colour = _GOOD if abs(number - ours[i]) <= allowed + 1e-12 else _BAD
            dots[colour].append(_dot((i + 0.5) * width, height(number), figure))
    _fill(figure, bars, _INK, 0.2)
    _fill(figure, lines, _INK, 0.8)
    for colour, found in dots.items():
        _fill(figure, found, colour, 1.0)


def _curve(figure: Figure, shown: Plot) -> None:
    """A line from left to right."""
    from matplotlib.lines import Line2D

    numbers = shown["received"]
    low, span = _range(numbers)
    xs = [0.01 + 0.98 * i / (len(numbers) - 1) for i in range(len(numbers))]
    ys = [0.06 + 0.88 * (n - low) / span for n in numbers]
    figure.add_artist(Line2D(xs, ys, color=_INK, linewidth=1.5))


def _box(left: float, bottom: float, width: float, height: float) -> Polygon:
    right, top = left + width, bottom + height
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def _dot(x: float, y: float, figure: Figure, radius: float = 0.05) -> Polygon:
    """A circle of a radius in inches."""
    wide, high = figure.get_size_inches()
    angles = [i * math.tau / 16 for i in range(16)]
    return [(x + radius * math.cos(a) / wide, y + radius * math.sin(a) / high) for a in angles]


def _fill(figure: Figure, polygons: list[Polygon], colour: str, alpha: float) -> None:
    """Many polygons as one shape, since each shape costs as much as another."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not polygons:
        return
    points = [point for polygon in polygons for point in (*polygon, polygon[0])]
    codes = [
        code
        for polygon in polygons
        for code in (Path.MOVETO, *[Path.LINETO] * (len(polygon) - 1), Path.CLOSEPOLY)
    ]
    shape = PathPatch(Path(points, codes), facecolor=colour, alpha=alpha, linewidth=0)
    figure.add_artist(shape)


_DRAWN = {"rows": _rows, "names": _rows, "numbers": _numbers, "curve": _curve}
