"""Checks a student's work again at every save: `watch(assignment, path, runner, ...)`."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import batch, render
from grader.collect import collect
from grader.feedback import feedback
from grader.plain import clean
from grader.records import Assignment, GraderError
from grader.runner import Runner
from grader.words import words


def saves(path: Path) -> Iterator[object]:
    """Something whenever a file below a folder, or a file itself, has been written.

    Editors write beside a file and rename, so that a lone file is watched by its folder.
    """
    from watchfiles import PythonFilter
    from watchfiles import watch as watched

    folder = path if path.is_dir() else path.parent
    wanted = PythonFilter(extra_extensions=(".ipynb",))
    for changes in watched(folder, watch_filter=wanted, raise_interrupt=True):
        if path.is_dir() or any(Path(name).name == path.name for _, name in changes):
            yield changes


def watch(
    assignment: Assignment,
    path: Path,
    runner: Runner,
    console: Console,
    again: Iterable[object],
) -> None:
    """Check a submission now and whenever `again` gives something, each time on a clear screen.

    Args:
        assignment: in its public cases.
        path: a folder or a file; it may be missing for a while.
        runner: where it runs.
        console: where to.
        again: what to wait for, see `saves`.
    """
    told = words(assignment)
    _show(assignment, path, runner, console, told["watching"])
    for _ in again:
        _show(assignment, path, runner, console, told["watching"])


def _show(
    assignment: Assignment, path: Path, runner: Runner, console: Console, watching: str
) -> None:
    try:
        submission = collect(assignment, path)
        ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    except GraderError as problem:  # such as a file that is being renamed
        console.clear()
        console.print(Text(clean(str(problem)), style="red"), soft_wrap=True)
    else:
        console.clear()
        render.print_feedback(console, feedback(assignment, grade, submission))
    now = datetime.datetime.now().astimezone()
    sentence = watching.format(time=f"{now:%H:%M:%S}", path=clean(str(path)))
    console.print(Text(sentence, style="dim"), soft_wrap=True)
