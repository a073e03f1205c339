"""Shows what verification found: `tables` in a terminal, `as_json` for machines, `page` as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader import plain, render
from grader.mutation import Mutation, Outcome
from grader.verify import Row, Verification

VERSION = 1
#: A lab, with its mutants where they were asked for.
Found: TypeAlias = tuple[Verification, Mutation | None]
_STYLES = {"full": "green", "lost": "yellow", "wrong": "bold red"}


def holds(found: Verification, tested: Mutation | None) -> bool:
    """Whether nothing is wrong with a lab."""
    return not found.problems and (tested is None or not (tested.survivors or tested.problems))


def as_json(done: Sequence[Found]) -> dict[str, Any]:
    """What was found of each lab, as plain data."""
    return {"version": VERSION, "labs": [_lab(*pair) for pair in done]}


def _lab(found: Verification, mutants: Mutation | None) -> dict[str, Any]:
    return {
        "lab": found.lab,
        "title": found.title,
        "holds": holds(found, mutants),
        "seconds": round(found.seconds, 1),
        "parts": dict(found.parts),
        "files": [_file(found, row) for row in found.rows],
        "checks": [
            {"part": part, "check": check, "failed_by": list(names)}
            for (part, check), names in found.failed_by.items()
        ],
        "problems": [vars(problem) for problem in found.problems],
        "mutants": None if mutants is None else _mutants(mutants),
    }


def _file(found: Verification, row: Row) -> dict[str, Any]:
    return {
        "file": row.file.name,
        "kind": row.file.kind,
        "points": {part: earned for part, earned, _ in _cells(found, row)},
        "loses": sorted(row.file.loses),
        "lost": sorted(row.lost),
        "runs": {run.case: run.status for run in row.grade.runs},
    }


def _cells(found: Verification, row: Row) -> Iterator[tuple[str, float, str]]:
    """By part: what a file earned, and whether that is all, a loss foreseen, or wrong."""
    expected = found.parts if row.file.kind == "stub" else row.file.loses
    for part in found.parts:
        earned = sum(check.earned for check in row.grade.checks if check.part == part)
        lost = part in row.lost
        right = lost == (part in expected) and (row.file.kind != "stub" or earned == 0)
        yield part, earned, "wrong" if not right else "lost" if lost else "full"


def _mutants(tested: Mutation) -> dict[str, Any]:
    return {
        "made": len(tested.outcomes),
        "counts": tested.counts,
        "kill_rate": tested.kill_rate,
        "checks": [
            {"part": part, "check": check, "kills": kills, "alone": alone}
            for (part, check), (kills, alone) in tested.by_check.items()
        ],
        "survivors": [_outcome(outcome) for outcome in tested.survivors],
        "equivalent": [_outcome(outcome) for outcome in tested.equivalent],
        "problems": list(tested.problems),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    mutant = outcome.mutant
    return {
        "kind": mutant.kind,
        "line": mutant.line,
        "diff": mutant.diff,
        "reason": outcome.reason,
    }


def page(done: Sequence[Found]) -> str:
    """The same as an HTML page."""
    shown = as_json(done)["labs"]
    for lab, (found, _) in zip(shown, done, strict=True):
        for file, row in zip(lab["files"], found.rows, strict=True):
            file["cells"] = [(earned, state) for _, earned, state in _cells(found, row)]
    return render.page("verify.html", {"labs": shown})


def tables(found: Verification, tested: Mutation | None) -> RenderableType:
    """The same for a terminal."""
    return Group(_table(found), *([_table_of_mutants(found.lab, tested)] if tested else []))


def _table(found: Verification) -> RenderableType:
    """The matrix of a lab: files by parts, then what does not hold."""
    matrix = Table(title=f"{found.lab}: {found.title}", title_justify="left")
    matrix.add_column("file")
    for part, points in found.parts.items():
        matrix.add_column(f"{part} / {plain.points(points)}", justify="right")
    for row in found.rows:
        cells = [
            Text(plain.points(earned) + (" !" if state == "wrong" else ""), _STYLES[state])
            for _, earned, state in _cells(found, row)
        ]
        matrix.add_row(Text(row.file.name), *cells)
    told: list[RenderableType] = [
        Text.assemble((f"{problem.where}: ", "bold red"), plain.clean(problem.message))
        for problem in found.problems
    ]
    if not told:
        files, checks = len(found.rows), len(found.failed_by)
        told = [Text(f"all holds: {files} files, {checks} checks, {found.seconds:.0f} s", "green")]
    return Group(matrix, *told)


def _table_of_mutants(lab: str, tested: Mutation) -> RenderableType:
    """How many mutants each check kills, then the survivors with their diffs."""
    matrix = Table(title=f"{lab}: mutants killed by check", title_justify="left")
    for head in ("part", "check"):
        matrix.add_column(head)
    for head in ("kills", "alone"):
        matrix.add_column(head, justify="right")
    for (part, check), (kills, alone) in tested.by_check.items():
        matrix.add_row(part, check, str(kills), str(alone))
    counts = ", ".join(f"{count} {ended}" for ended, count in tested.counts.items())
    told = [Text(f"{lab}: {tested.kill_rate:.1%} killed of {len(tested.outcomes)}: {counts}")]
    for outcome in tested.survivors:
        told.append(Text(f"line {outcome.mutant.line}: {outcome.mutant.kind}: survived", "red"))
        told.append(Text(plain.clean(outcome.mutant.diff)))
    told += [Text(problem, "bold red") for problem in tested.problems]
    return Group(matrix, *told)
