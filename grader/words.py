"""The pages' own words, by language: `words(assignment) -> text by name`.

They are in `templates/<language>.toml`. A folder given with `--templates` may hold such a file with
only some of them, or in a language of its own; what it lacks is taken from the next folder, and
last from the English ones.
"""

from __future__ import annotations

import functools
import string
import tomllib
from pathlib import Path
from typing import Any

from grader.home import own, templates
from grader.records import Assignment, AssignmentError

ENGLISH = "en"


def words(assignment: Assignment) -> dict[str, str]:
    """Every text of the pages, in the assignment's language.

    Raises:
        AssignmentError: the language is not there, or a file of words is wrong.
    """
    english = _read(own() / "templates" / f"{ENGLISH}.toml")
    folders = templates(assignment.templates)
    paths = [folder / f"{assignment.language}.toml" for folder in folders]
    paths = [path for path in paths if path.is_file()]
    if not paths:
        known = sorted({path.stem for folder in folders for path in folder.glob("*.toml")})
        raise AssignmentError(
            f"there are no words in the language {assignment.language!r}: there are "
            f"{', '.join(known)}; add {assignment.language}.toml to a folder of templates"
        )
    chosen = dict(english)
    for path in reversed(paths):
        found = _read(path)
        for name, text in found.items():
            _check(path, name, text, english)
        chosen |= found
    return chosen


def _read(path: Path) -> dict[str, str]:
    try:
        found = _parsed(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as problem:
        raise AssignmentError(f"{path}: the words cannot be read: {problem}") from None
    for name, text in found.items():
        if not isinstance(text, str):
            raise AssignmentError(f"{path}: {name}: put this text between quotes")
    return found


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> dict[str, Any]:
    """A file's content, parsed once for a class."""
    return tomllib.loads(text)


def _check(path: Path, name: str, text: str, english: dict[str, str]) -> None:
    """See to it that a text is one of ours and has no slot that is never filled."""
    if name not in english:
        raise AssignmentError(f"{path}: {name}: there is no such text; remove it or mend its name")
    try:
        slots, known = _slots(text), _slots(english[name])
    except ValueError as problem:
        raise AssignmentError(f"{path}: {name}: {problem}; write {{{{ for a brace") from None
    if other := sorted(slots - known):
        slot = ", ".join(f"{{{slot}}}" for slot in sorted(known)) or "no slots"
        raise AssignmentError(
            f"{path}: {name}: there is nothing for {{{other[0]}}}; this text has {slot}"
        )


def _slots(text: str) -> set[str]:
    return {slot for _, slot, _, _ in string.Formatter().parse(text) if slot is not None}
