"""Text of a submission made harmless, and numbers as a page shows them."""

from __future__ import annotations

import re
from typing import Any

#: Longest text that a page shows in one piece, in lines, and each line in characters.
MAX_LINES = 100
MAX_WIDTH = 500
#: Control characters but tab and newline, and the marks that turn the reading direction.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: What a CI runner obeys in a line of its log.
_COMMANDS = re.compile(r"::(?=[A-Za-z])|##(?=\[)")


def clean(text: str) -> str:
    """Text of a submission with every control character made visible and harmless."""
    plain = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
    return _COMMANDS.sub(lambda found: "\N{ZERO WIDTH SPACE}".join(found[0]), plain)


def cleaned(value: Any) -> Any:
    """Plain data with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value


def clip(text: str, left_out: str) -> str:
    """The head and tail of a long text.

    Args:
        text: of any length.
        left_out: a sentence with a slot `{count}`, which stands where lines are missing.
    """
    lines = [line[:MAX_WIDTH] for line in clean(text).splitlines()]
    if len(lines) <= MAX_LINES:
        return "\n".join(lines)
    half = MAX_LINES // 2
    cut = len(lines) - 2 * half
    return "\n".join([*lines[:half], left_out.format(count=cut), *lines[-half:]])


def points(number: float) -> str:
    """Points to two decimals, without trailing zeros."""
    return f"{number:z.2f}".rstrip("0").rstrip(".")
