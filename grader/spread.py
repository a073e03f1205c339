"""The least band that right runs keep to, and how likely one does not: `fitted(...) -> Band`.

A tolerance is the least on a ladder of 1, 2 and 5 that keeps to an accepted chance for every way of
writing what is right, by a Gumbel distribution fitted to the logarithms of what the way's runs
needed: the logarithm of the largest of many errors has that distribution, or a thinner tail. A band
of rows is the least for which a Poisson distribution says so, whose rate is the upper 95% bound of
what was seen in all runs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from grader.bands import Band, Unit

#: The bands there are.
LADDERS: dict[Unit, list[float]] = {
    "tolerance": [float(f"{digit}e{power}") for power in range(-9, 0) for digit in (1, 2, 5)],
    "rows": [float(rows) for rows in range(21)],
}
#: Of each way to write what is right: how much of a band its runs need.
Needs = Mapping[str, Sequence[float]]


def fitted(unit: Unit, needed: Needs, accepted: float) -> Band:
    """The least band on the ladder that right runs keep to, with the chance that one does not.

    Args:
        unit: of the band.
        needed: what was needed, by way of writing it.
        accepted: the chance that a run may need more.
    """
    runs = [need for needs_of in needed.values() for need in needs_of]
    chance = _worst(needed) if unit == "tolerance" else _poisson(runs)
    ladder = LADDERS[unit]
    largest = max(runs, default=ladder[0])
    fits = [value for value in ladder if value >= largest and chance(value) < accepted]
    value = fits[0] if fits else ladder[-1]
    return Band(
        unit=unit,
        value=value,
        right_runs=len(runs),
        largest=largest,
        false_fail=float(f"{chance(value):.1e}"),
    )


def _worst(needed: Needs) -> Callable[[float], float]:
    """The chance of needing more than a tolerance, in the way for which it is largest."""
    ways = [_gumbel(needs_of) for needs_of in needed.values()]
    return lambda value: max(chance(value) for chance in ways)


def _gumbel(needed: Sequence[float]) -> Callable[[float], float]:
    """The chance of needing more than a tolerance; the spread is never less than the ladder's."""
    logs = [math.log10(value) for value in needed] or [-9.0]
    spread = max(statistics.pstdev(logs), 1 / 3 / math.sqrt(12))
    scale = spread * math.sqrt(6) / math.pi
    place = statistics.fmean(logs) - 0.5772 * scale
    return lambda value: -math.expm1(-math.exp(-(math.log10(value) - place) / scale))


def _poisson(needed: Sequence[float]) -> Callable[[float], float]:
    """The chance of needing more than so many rows, at the largest rate that is likely (95%)."""
    seen, runs = round(sum(needed)), max(1, len(needed))
    low, high = 0.0, 10.0 + 3 * seen
    while high - low > 1e-9:
        rate = (low + high) / 2
        low, high = (rate, high) if _at_most(seen, rate) > 0.05 else (low, rate)
    return lambda rows: max(0.0, 1 - _at_most(int(rows), high / runs))


def _at_most(count: int, rate: float) -> float:
    """The chance of at most so many events."""
    return math.fsum(math.exp(-rate) * rate**k / math.factorial(k) for k in range(count + 1))
