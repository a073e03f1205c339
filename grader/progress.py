"""How far a class is: a live bar on a terminal, a line a student elsewhere."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from rich import progress
from rich.console import Console
from rich.text import Text

from grader.pipeline import Outcome
from grader.plain import clean, points


class Progress:
    """Shows outcomes as they come, in a `with` block.

    The bar has the counts of runs by status, the time left and the slowest submission.
    """

    def __init__(self, console: Console, title: str, total: int) -> None:
        self._console = console
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[told]}", markup=False),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, told="")
        self._counts: Counter[str] = Counter()
        self._slowest = (0.0, "")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def show(self, outcome: Outcome) -> None:
        """Count one more student."""
        student = clean(outcome.student)
        self._counts.update(outcome.statuses)
        self._slowest = max(self._slowest, (outcome.seconds, student))
        counts = " ".join(f"{status} {count}" for status, count in self._counts.most_common())
        seconds, name = self._slowest
        slowest = f", slowest {name} {seconds:.0f} s" if name else ""
        self._bar.update(self._task, advance=1, told=counts + slowest)
        if not self._console.is_terminal:
            total = f"{points(outcome.points)} / {points(outcome.possible)}"
            word = "graded" if outcome.again else "unchanged"
            self._console.print(Text(f"{word} {student}: {total}"), soft_wrap=True)
