"""Takes out of a hidden check's message what only an expected value, or a hidden row, could tell.

`guard(assignment, checks, expected, runs, files) -> checks`. What is left says of which kind the
fault is: a type, a shape, a name that is missing, which sentence of the check. Out go every number,
whatever is quoted, True, False and None, and every word of the reference's answers that is not one
of the checks' own. What a submission raised could carry anything that it saw, so of that only the
type and the places in its own files are left.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from grader import compare
from grader.assignment import check_files, probe_sources
from grader.records import Assignment, Check, Disclosure, Run, Value

GAP = "…"
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'(?!\w)|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
#: A number on its own, with all that is joined to it.
_NUMBER = re.compile(r"(?<!\w)[-+]?\.?\d[\w.,+-]*%?")
_LITERALS = frozenset({"true", "false", "none", "nan", "inf"})
_WORD = re.compile(r"\w+")
_CELL = re.compile(r"cell \d{1,4}")
_PLACE = re.compile(r"^  ([^\s:][^:\n]*), line (\d+)\b", re.MULTILINE)


def level(assignment: Assignment, check: Check) -> Disclosure:
    """How much of a check that was lost its student sees."""
    if not check.hidden:
        return "all"
    chosen = assignment.disclosure
    return chosen.get(check.name, chosen.get("default", "name"))


def guard(
    assignment: Assignment,
    checks: tuple[Check, ...],
    expected: Mapping[str, Run],
    runs: tuple[Run, ...],
    files: Collection[str],
) -> tuple[Check, ...]:
    """The checks, those of which the message is told with what of it may be.

    Args:
        assignment: how much it tells.
        checks: what was found.
        expected: the reference's run by case.
        runs: the submission's.
        files: the names of those that were handed in.
    """
    mine = {run.case: run for run in runs}

    @functools.cache
    def secret() -> frozenset[str]:
        hidden = [expected[case.name] for case in assignment.cases if case.hidden]
        return _words(hidden) - _own(assignment)

    return tuple(
        replace(check, guarded=_guarded(check.message, mine[check.case], files, secret()))
        if check.message and level(assignment, check) == "message"
        else check
        for check in checks
    )


def _guarded(message: str, run: Run, files: Collection[str], secret: frozenset[str]) -> str:
    """A message without expected values.

    Args:
        message: what the check says.
        run: the submission's in the check's case.
        files: the names of those that were handed in.
        secret: words that are told to nobody, in lower case.
    """
    reasons = [reason for reason in (*run.faults.values(), run.message) if reason]
    if any(reason in message for reason in reasons):
        return _raised(message, files)
    flat = _NUMBER.sub(GAP, _QUOTED.sub(GAP, message))
    return _WORD.sub(
        lambda found: GAP if found[0].lower() in secret | _LITERALS else found[0], flat
    )


def _raised(message: str, files: Collection[str]) -> str:
    """An exception's type, and where in the files that were handed in."""
    name = re.split(r"\W", message, maxsplit=1)[0]
    kind = getattr(builtins, name, None) if name else None
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    places = [
        f"  {file}, line {line}"
        for file, line in _PLACE.findall(message)
        if file in files or _CELL.fullmatch(file)
    ]
    return "\n".join([name if known else GAP, *places])


def _own(assignment: Assignment) -> frozenset[str]:
    """The words of the checks and probes themselves, which are no values."""
    texts = [path.read_text("utf-8") for path in check_files(assignment)]
    texts += [text for case in assignment.cases for _, text in probe_sources(assignment, case)]
    texts.append(inspect.getsource(compare))
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


def _words(runs: Collection[Run]) -> frozenset[str]:
    """All words of a reference's answers and output, in lower case."""
    texts = [text for run in runs for value in run.values.values() for text in _texts(value)]
    texts += [run.output for run in runs]
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


def _texts(value: Value) -> Iterator[str]:
    """The texts of a value, the keys of its dicts too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
