"""What scripts printed, compared by the numbers and words in it: `printed(output) -> Printed`.

Order, spacing and labels are each student's own, so of a mistake's output only what is new in it is
looked for: the numbers and words that the reference does not print. Against chance a word counts as
one power of ten and a number as half its digits, at most 2: of all numbers, those near the right
one are likelier to be printed by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_LINES = 200  #: how many lines are looked at
_LARGEST = 2**53  #: beyond it a whole number has no exact float
_TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?!\w)|#*\w+")


@dataclass(frozen=True)
class Printed:
    """The numbers and words of an output."""

    numbers: Mapping[str, float]  #: by how they are written
    words: frozenset[str]


@dataclass(frozen=True)
class PrintedDifference:
    """How a mistake's output differs from the reference's."""

    marks: Printed  #: what the mistake prints and the reference does not
    ours: Printed  #: the other way round
    numbers: Printed  #: all numbers that the mistake prints
    odds: float  #: how unlikely it is to print all of the marks by chance, as a power of ten
    count: int  #: how many numbers and words they are

    def made(self, mine: Printed) -> float | None:
        """0 where an output has the marks, and not what the mistake's lacks; None otherwise.

        A mistake that prints nothing new, but a right number in a wrong place, shows only where all
        of its numbers are there.
        """
        wanted = self.marks if self.odds else self.numbers
        return 0.0 if _has_all(mine, wanted) and not self.right(mine) else None

    def right(self, mine: Printed) -> bool:
        """Whether an output has what the mistake's lacks."""
        return bool(self.ours.numbers or self.ours.words) and _has_all(mine, self.ours)


def printed(output: str) -> Printed:
    """The numbers and words of the first lines of an output."""
    lines = [line for line in output.splitlines() if line.strip()][:_LINES]
    found = _TOKEN.findall("\n".join(lines))
    numbers = {
        token: float(token) for token in found if re.match(r"[-+]?\d+(?!\w*[A-Za-z_])", token)
    }
    return Printed(
        {token: n for token, n in numbers.items() if abs(n) < _LARGEST},
        frozenset(token.lower() for token in found if token not in numbers),
    )


def printed_difference(theirs: Printed, ours: Printed) -> PrintedDifference | None:
    """How a mistake's output differs from the reference's; None where it does not."""
    marks, lacking = _new(theirs, ours), _new(ours, theirs)
    if marks == lacking:  # both are empty
        return None
    odds = len(marks.words) + sum(min(2.0, _digits(text) / 2) for text in marks.numbers)
    count = len(marks.numbers) + len(marks.words)
    numbers = Printed(theirs.numbers, frozenset())
    return PrintedDifference(marks, lacking, numbers, odds, count)


def _digits(text: str) -> int:
    """How many digits of a number's text count."""
    mantissa = text.lower().partition("e")[0]
    return len(mantissa.lstrip("+-0.").replace(".", "").replace("+", ""))


def _new(these: Printed, others: Printed) -> Printed:
    numbers = {text: n for text, n in these.numbers.items() if not _has(others, text)}
    return Printed(numbers, these.words - others.words)


def _has_all(output: Printed, wanted: Printed) -> bool:
    return wanted.words <= output.words and all(_has(output, text) for text in wanted.numbers)


def _has(output: Printed, text: str) -> bool:
    """Whether a number is in an output, to the last decimal of its text."""
    wanted, allowed = float(text), _half(text) * (1 + 1e-6)
    return any(abs(n - wanted) <= allowed for n in output.numbers.values())


def _half(text: str) -> float:
    """Half a unit of a number's last decimal; 0 for a whole number."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0
