"""This harness beside its peers: `python benchmarks/peers.py [SIZE] [--peers VENV]`.

Grades the same class of the lab `pieces`, made out of its right and wrong files, with this harness,
with plain pytest started anew for each submission, with `otter run` and with `nbgrader autograde`,
one after another, and prints what each took, how that compares with this harness, and whether each
outcome was right. Every tool grades two submissions beforehand that do not count, so that files
are in the cache. The machine should do nothing else; ratios of one run bear more than seconds.

The peers are no dependencies of the project. They are taken from a virtual environment of their
own, which needs what the scripts import, in the same versions:

    python -m venv peers
    peers/bin/pip install -c constraints.txt otter-grader==7.0.0 nbgrader==0.9.6 \
        torch transformers pandas

A peer that is not there is left out. How the questions are put to each is in `benchmarks/peers/`.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import tools
from classes import LAB, make_class
from measure import measure
from tools import Outcome

from grader.batch import processors
from grader.home import home

#: So many submissions are graded beforehand and do not count.
_WARM_UP = 2
_OURS = f"grader, case {tools.CASE}, one at a time"
#: What each tool did, and what it did not.
_DID = {
    _OURS: "one command for the class; each script in a sandbox of its own, the values compared "
    "outside it; the printed lines asked too; feedback written",
    "grader, all cases": "as above, in the hidden case as well, one run on each processor",
    "pytest": "started for each script in the same process as the script; the five questions, the "
    "public data; no sandbox, no limits, no printed lines, no grades written",
    "otter run": "started for each script, which becomes a notebook in a kernel; as pytest, but "
    "writes grades",
    "nbgrader autograde": "one command for the class, a kernel for each notebook, which has the "
    "script in one cell; as pytest, but writes grades",
}


def main() -> None:
    """Print the table, and what each tool ran."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=30)
    parser.add_argument("--peers", type=Path, help="virtual environment of otter and nbgrader")
    given = parser.parse_args()
    graders = _graders(given.peers)
    print(f"{given.size} submissions, {processors()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"pytest {version('pytest')}, torch {version('torch')}")
    found: dict[str, Outcome] = {}
    for name, grade in graders.items():
        with tempfile.TemporaryDirectory() as folder:
            for part, size in (("warm-up", _WARM_UP), ("class", given.size)):
                students = make_class(Path(folder) / part / "in", size)
                found[name] = grade(students, students.parent)
        spent = f"first {found[name].cold:.2f} s, each other {found[name].steady:.3f} s"
        print(f"{name}: {spent}, load {os.getloadavg()[0]:.1f}", flush=True)
    _table(found, given.size)
    for name in found:
        print(f"- {name}: {_DID[name]}.")


def _graders(peers: Path | None) -> dict[str, Callable[[Path, Path], Outcome]]:
    """What grades a class, by name; this harness first."""
    found: dict[str, Callable[[Path, Path], Outcome]] = {
        _OURS: lambda *paths: tools.harness(*paths, "--case", tools.CASE),
        "grader, all cases": lambda *paths: tools.harness(*paths, workers=processors()),
        "pytest": tools.pytest,
    }
    for name, grade in (("otter run", tools.otter), ("nbgrader autograde", tools.nbgrader)):
        command = peers and peers.resolve() / "bin" / name.split()[0]
        if command and command.exists():
            found[name] = partial(grade, venv=command.parents[1])
            told = measure([str(command), "--version"], Path.cwd()).output
            print(*re.findall(r"(?:Otter-Grader|nbgrader) version.*", told))
        else:
            print(f"{name} is left out: no {command or 'environment is given with --peers'}")
    return found


def _table(found: dict[str, Outcome], size: int) -> None:
    """Print a row a tool; `x` columns are multiples of this harness doing the same alone."""
    ours = found[_OURS]
    print(f"\nThe scripts' own processor time: {ours.compute:.2f} s each in case {tools.CASE}\n")
    print(
        "| tool | first, s | x | each other, s | x | overhead each, s | x "
        "| processor each, s | peak MB | right |"
    )
    print("|---" * 10 + "|")
    for name, one in found.items():
        over = _overhead(one, ours)
        print(
            f"| {name} | {one.cold:.2f} | {one.cold / ours.cold:.1f} "
            f"| {one.steady:.3f} | {one.steady / ours.steady:.1f} "
            f"| {over:.3f} | {over / _overhead(ours, ours):.1f} "
            f"| {one.cpu / size:.2f} | {one.peak_mb:.0f} | {_right(one)} |"
        )
    print()


def _overhead(one: Outcome, ours: Outcome) -> float:
    """Wall time times workers, less the scripts' own processor time, a submission."""
    return one.steady * one.workers - (one.compute or ours.compute)


def _right(one: Outcome) -> str:
    """How many outcomes were right: full marks for a right file, fewer for a wrong one."""
    files = sorted((home() / "solutions" / LAB).glob("*/*.py"))
    missed = [
        files[number % len(files)].stem
        for number, student in enumerate(sorted(one.full))
        if one.full[student] != (files[number % len(files)].parent.name == "right")
    ]
    names = f", not {', '.join(sorted(set(missed)))}" if missed else ""
    return f"{len(one.full) - len(missed)} of {len(one.full)}{names}"


if __name__ == "__main__":
    main()
