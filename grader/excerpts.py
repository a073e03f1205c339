"""The lines of a student's own files that a check is about: `Excerpts(assignment, submission)`.

Where the message tells of places, as a traceback does, those; else where the names are defined that
the check's probes ask for. The file is looked through line by line and never parsed: Python's
parser is not made for a hostile text.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from grader import cells
from grader.assignment import probe_sources
from grader.records import Assignment, Check, Submission

MAX_LINES = 12  #: of one excerpt
_MOST = 2  #: excerpts of one check
_MAX_BYTES = 200_000  #: of a file that are looked through
_MAX_FILES = 20
_MAX_WIDTH = 160
#: A file, its first line that is shown and its last one, and the lines as text.
Excerpt: TypeAlias = tuple[str, int, int, str]

_PLACE = re.compile(r"^  ([^\s:][^:\n]*?), line (\d{1,6})\b", re.MULTILINE)
_DEFINED = re.compile(r"(\s*)(?:async +)?(?:def|class) +(\w+)")
_TARGETS = re.compile(r"[\w\s,*()\[\]:.]+")
_GOES_ON = re.compile(r"\s*$|\s*[)\]}]")


class Excerpts:
    """Finds lines in one submission."""

    def __init__(self, assignment: Assignment, submission: Submission | None) -> None:
        self._assignment = assignment
        self._files = _files(submission) if submission else {}

    def of(self, check: Check) -> list[Excerpt]:
        """The excerpts for a check that was lost."""
        at = self.at(check.message or "")
        if at or not self._files or not check.probes:
            return at
        names = [name for probe in check.probes for name in self._asked.get(probe, ())]
        found = [self._definition(name) for name in dict.fromkeys(names)]
        return [one for one in found if one is not None][:_MOST]

    def at(self, message: str) -> list[Excerpt]:
        """The excerpts for the places that a message tells, the innermost last."""
        places = [
            (file, int(number))
            for file, number in _PLACE.findall(message)
            if 0 < int(number) <= len(self._files.get(file, ()))
        ]
        return [self._around(*place) for place in list(dict.fromkeys(places))[-_MOST:]]

    def _around(self, file: str, number: int) -> Excerpt:
        lines = self._files[file]
        first, last = max(1, number - 2), min(len(lines), number + 1)
        return file, number, number, _numbered(lines, first, last, number)

    def _definition(self, name: str) -> Excerpt | None:
        for file, index in self._index.items():
            if name in index:
                lines = self._files[file]
                first = index[name]
                last = _end(lines, first)
                shown = min(last, first + MAX_LINES - 1)
                rest = "\n        …" if shown < last else ""
                return file, first, last, _numbered(lines, first, shown) + rest
        return None

    @functools.cached_property
    def _asked(self) -> Mapping[str, tuple[str, ...]]:
        """The names that each probe asks for."""
        cases = self._assignment.cases
        texts = [text for case in cases for _, text in probe_sources(self._assignment, case)]
        return _names_by_probe(tuple(dict.fromkeys(texts)))

    @functools.cached_property
    def _index(self) -> dict[str, dict[str, int]]:
        """By file, the last line at which each name is defined, at the top level if it is there."""
        return {file: _defined(lines) for file, lines in self._files.items()}


def _files(submission: Submission) -> dict[str, list[str]]:
    """The lines of the Python files, the entry's first; a notebook's cells, the last one first."""
    names = [name for name in submission.files if name.endswith(".py")]
    names.sort(key=lambda name: name != submission.entry)
    found: dict[str, list[str]] = {}
    for name in names[:_MAX_FILES]:
        text = submission.files[name][:_MAX_BYTES].decode("utf-8", "replace")
        by_cell = cells.by_cell(text)
        if by_cell is None:
            found[name] = text.splitlines()
        else:
            found |= reversed(by_cell.items())  # what is set twice has its last value
    return found


def _defined(lines: list[str]) -> dict[str, int]:
    top: dict[str, int] = {}
    inner: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        cut = line[:_MAX_WIDTH]
        if found := _DEFINED.match(cut):
            (inner if found[1] else top)[found[2]] = number
        else:
            for name in _targets(cut):
                (inner if cut[0].isspace() else top)[name] = number
    return inner | top


def _targets(line: str) -> list[str]:
    """The names that a line assigns to."""
    left, equals, right = line.partition("=")
    left = left.rstrip("+-*/|&")
    call = left.count("(") != left.count(")")
    if not equals or right.startswith("=") or call or not _TARGETS.fullmatch(left):
        return []
    return re.findall(r"(?<![.\[\w])[^\W\d]\w*", left)


def _end(lines: list[str], first: int) -> int:
    """The last line of what begins at a line: what is indented deeper, and closing brackets."""
    indent = _indent(lines[first - 1])
    last = first
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        if _indent(line) <= indent and not _GOES_ON.match(line):
            break
        last = number
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _numbered(lines: list[str], first: int, last: int, marked: int = 0) -> str:
    """Lines with their numbers, one of them marked."""
    return "\n".join(
        f"{'>' if number == marked else ' '} {number:>4}  {lines[number - 1][:_MAX_WIDTH]}"
        for number in range(first, last + 1)
    )


@functools.lru_cache(maxsize=8)
def _names_by_probe(sources: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """The names that each probe asks for, also through functions that it hands them to."""
    found: dict[str, tuple[str, ...]] = {}
    for source in sources:
        tree = ast.parse(source)
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        for name in functions:
            found[name] = tuple(dict.fromkeys(_asked_by(name, functions, frozenset())))
    return found


def _asked_by(
    name: str, functions: Mapping[str, ast.FunctionDef], above: frozenset[str]
) -> Iterable[str]:
    node = functions[name]
    if not node.args.args or name in above:
        return
    given = node.args.args[0].arg
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and _is(inner.value, given):
            yield inner.attr
        elif (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Name)
            and inner.func.id in functions
            and inner.args
            and _is(inner.args[0], given)
        ):
            yield from _asked_by(inner.func.id, functions, above | {name})


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
