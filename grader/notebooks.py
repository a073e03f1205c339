"""Turns a notebook into a script: `as_script(data, name, notices) -> text`.

Nothing of it is run or compiled here: JSON is read and text rewritten. What only IPython knows
(`%magics`, `!shell`, `name?`) is made inert by IPython's own transformer and told.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader import cells
from grader.tidy import defined, names_of
from grader.tree import Refused

SKIP = "grader-skip"  #: a cell with this tag is left out

#: Magics whose text is Python that is run all the same.
_RUNS = {"time", "capture", "prun", "python", "python3"}
#: Whether a line may need IPython.
_MAGIC = re.compile(
    r"\A(?:[ \t]*\n)*[ \t]|^[ \t]*(>>>|In ?\[|[%!?,;/])|=[ \t]*[%!]|\?[ \t]*(#.*)?$", re.MULTILINE
)
_CALL = re.compile(
    r"(?P<before>.*?)get_ipython\(\)\."
    r"(?P<call>run_line_magic|run_cell_magic|system|getoutput)\((?P<arguments>.*)\)\s*$"
)
#: Work that the transformer may make, in characters looked at: two or three seconds.
_MOST = 400_000
_MAX_TOLD = 5
_MAX_CELLS = 5_000


def as_script(data: bytes, name: str, notices: list[str]) -> str:
    """The code cells of a notebook as one script, see `cells`.

    Args:
        data: the file.
        name: how to call it in messages.
        notices: told what was mended or made inert.

    Raises:
        Refused: it is no notebook, or not a whole one.
    """
    content = _parse(data, name, notices)
    found = [_cell(cell) for cell in _upgraded(content, name)]
    code = [(source, tags) for kind, source, tags in found if kind == "code" and source.strip()]
    if len(code) > _MAX_CELLS:
        raise Refused(f"{name} has more than {_MAX_CELLS:,} cells")
    kept: list[tuple[int, str]] = []
    skipped, inert = [], []
    transform = _transformer()
    for number, (source, tags) in enumerate(code, start=1):
        if SKIP in tags:
            skipped.append(str(number))
            continue
        plain, left = transform(source)
        inert += [f"cell {number}: {line}" for line in left]
        kept.append((number, plain))
    if skipped:
        notices.append(f"left out by the tag {SKIP}: cell {', '.join(skipped)}")
    if inert:
        more = f" and {len(inert) - _MAX_TOLD} more" if len(inert) > _MAX_TOLD else ""
        notices.append(
            f"made inert, since only IPython knows it: {'; '.join(inert[:_MAX_TOLD])}{more}"
        )
    return cells.join(kept)


def set_twice(script: str, stub: Path) -> list[str]:
    """A notice for each name that the lab asks for and several cells set: the last one counts."""
    lines = [f"{line}\n" for line in script.split("\n")]
    where: dict[str, list[str]] = {}
    asked = names_of(stub)
    for name, line in defined(script):
        if name in asked and (place := cells.place(lines, line)):
            numbers = where.setdefault(name, [])
            number = place.split(",")[0].removeprefix("cell ")
            if number not in numbers:
                numbers.append(number)
    return [
        f"{name} is set in cells {', '.join(numbers)}: the value from cell {numbers[-1]} counts"
        for name, numbers in where.items()
        if len(numbers) > 1
    ]


# Reading ------------------------------------------------------------------------------------------


def _parse(data: bytes, name: str, notices: list[str]) -> dict[str, Any]:
    """The notebook's JSON; in UTF-8 as it should be, or in what some editors make of it."""
    try:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        notices.append(f"{name} is not all UTF-8; odd characters were replaced")
    if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE):
        raise Refused(f"{name} holds the marks of a merge conflict; mend it and hand it in again")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise Refused(
            f"{name} is no whole notebook{where}; open it in Jupyter, save it and hand it in again"
        ) from None
    if not isinstance(content, dict) or not {"cells", "worksheets"} & set(content):
        raise Refused(f"{name} is no notebook: it has no cells")
    return content


def _upgraded(content: dict[str, Any], name: str) -> list[Any]:
    """The cells, of whichever version of the format the notebook is.

    Outputs go first, and what every cell must have is put there, so that a careless tool's notebook
    is read as well.
    """
    import nbformat

    sheets = _dicts(content.get("worksheets"))
    for sheet in sheets or [content]:
        sheet["cells"] = [_mended(cell) for cell in _dicts(sheet.get("cells"))]
    if not isinstance(content.get("metadata"), dict):
        content["metadata"] = {}
    major = _major(content, old=bool(sheets))
    content |= {"nbformat": major, "nbformat_minor": 0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it would be mended otherwise
            return list(nbformat.convert(nbformat.from_dict(content), 4).cells)
    except Exception as problem:  # noqa: BLE001 - whatever its converters meet in odd JSON
        detail = " ".join(f"{type(problem).__name__}: {problem}".split())[:100]
        raise Refused(f"{name} is no notebook that can be read: {detail}") from None


def _major(content: dict[str, Any], *, old: bool) -> int:
    """The format's version: as the notebook says, where it can be so."""
    said = content.get("nbformat")
    if old:
        return said if said in (2, 3) else 3
    first = any("code" in cell and "source" not in cell for cell in content["cells"])
    return 1 if first else 4


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _mended(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with the fields that the format asks for, and without outputs."""
    names = [name for name in ("source", "input", "code") if name in cell] or ["source"]
    metadata = cell.get("metadata")
    return {
        **cell,
        **{name: _text(cell.get(name)) for name in names},
        "cell_type": str(cell.get("cell_type", "code")),
        "metadata": metadata if isinstance(metadata, dict) else {},
        "outputs": [],
    }


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""


def _cell(cell: Any) -> tuple[str, str, list[str]]:
    """A cell's kind, text and tags."""
    source = _text(cell.get("source", cell.get("input", "")))
    plain = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    plain = plain.encode("utf-8", "replace").decode("utf-8")  # a lone half of a character
    tags = cell.get("metadata", {}).get("tags", [])
    named = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return str(cell.get("cell_type")), plain, named


# What only IPython knows --------------------------------------------------------------------------


def _transformer() -> Callable[[str], tuple[str, list[str]]]:
    """A function that makes a cell plain Python, line for line, and says what it left out.

    Where the notebook has more of it than is plausible, the rest stays and fails when it is run.
    """
    budget = _MOST
    manager: Any = None

    def transform(source: str) -> tuple[str, list[str]]:
        nonlocal budget, manager
        if not _MAGIC.search(source):
            return source, []
        if manager is None:
            from IPython.core.inputtransformer2 import TransformerManager

            manager = TransformerManager()
        lines, left = _without_cell_magic([f"{line}\n" for line in source.split("\n")])
        try:
            for step in manager.cleanup_transforms:
                cleaned = step(lines)
                lines = ["\n"] * (len(lines) - len(cleaned)) + cleaned
            while (budget := budget - len(source)) > 0:
                changed, after = manager.do_one_token_transform(lines)
                if not changed:
                    break
                lines = _inert(lines, after, left)
            else:
                left.append("what follows stays as it is, there is too much of it")
        except Exception:  # noqa: BLE001 - it is no Python: told where it is run
            return source, []
        return "".join(lines), left

    return transform


def _without_cell_magic(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines without a `%%magic` above them, or none where the cell is not Python."""
    left: list[str] = []
    for number, line in enumerate(lines):
        if line.strip() and not line.startswith("%%"):
            break
        if line.startswith("%%"):
            left.append(line.strip())
            lines[number] = "\n"
            if line[2:].split()[:1] not in [[name] for name in _RUNS]:
                return ["\n"] * len(lines), left
    return lines, left


def _inert(before: list[str], after: list[str], left: list[str]) -> list[str]:
    """The lines with IPython's call replaced by what does nothing, and as many as before."""
    at = next(
        (n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        len(after) - 1,
    )
    gone = len(before) - len(after)
    found = _CALL.match(after[at])
    if found:
        told = " ".join("".join(before[at : at + gone + 1]).split())
        after[at] = _replaced(found, told, left) + "\n"
    return [*after[: at + 1], *["\n"] * gone, *after[at + 1 :]]


def _replaced(found: re.Match[str], told: str, left: list[str]) -> str:
    start = found["before"]
    if found["call"] == "run_line_magic":
        name, code = ast.literal_eval(f"({found['arguments']},)")[:2]
        if name in _RUNS and code.strip():
            return f"{start}{code}"
    left.append(told[:80])
    if found["call"] == "getoutput":
        return f"{start}[]"
    return f"{start}None" if start.strip() else f"{start}pass"
