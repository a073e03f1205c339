"""A notebook as one script, and back to its cells: shared by who writes it and who runs it.

The script holds the code cells in order, each after a line `# %% cell N`, as editors know it. N is
what "Restart and run all" shows as `In [N]`: code cells that are not empty, counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: How the script begins. What notebooks know without defining it is harmless here.
HEAD = """\
# The code cells of a notebook, in order; written when it was collected.
display = print
get_ipython = type("Notebook", (), {"__getattr__": lambda self, name: lambda *a, **k: None})
"""
_MARK = re.compile(r"# %% cell (\d+)$")


def join(cells: Sequence[tuple[int, str]]) -> str:
    """The script of numbered cells."""
    text = HEAD
    for number, source in cells:
        lines = [f" {line}" if _MARK.match(line) else line for line in source.split("\n")]
        text += "\n".join([f"# %% cell {number}", *lines]).rstrip() + "\n\n"
    return text


def split(source: bytes) -> Iterator[bytes]:
    """The pieces that are run one after another, each with its lines where they stand in the whole.

    A script is one piece; so cells before a broken one count, as they do in a notebook.
    """
    if not source.startswith(HEAD.encode()):
        yield source
        return
    start, lines = 0, source.split(b"\n")
    for number, line in enumerate(lines):
        if number and _MARK.match(line.decode("utf-8", "replace")):
            yield b"\n" * start + b"\n".join(lines[start:number])
            start = number
    yield b"\n" * start + b"\n".join(lines[start:])


def by_cell(source: str) -> dict[str, list[str]] | None:
    """The lines of each cell of such a script, by its name in messages; None for another script."""
    if not source.startswith(HEAD):
        return None
    found: dict[str, list[str]] = {}
    for line in source.split("\n"):
        if mark := _MARK.match(line):
            found[f"cell {mark[1]}"] = []
        elif found:
            next(reversed(found.values())).append(line)
    return found


def place(lines: Sequence[str], line: int) -> str | None:
    """Where a line of such a script stands, as "cell 7, line 3"; None for another script."""
    if "".join(lines[:3]) != HEAD:
        return None
    for number in range(min(line, len(lines)), 0, -1):
        if found := _MARK.match(lines[number - 1].rstrip("\n")):
            return f"cell {found[1]}, line {line - number}"
    return None
