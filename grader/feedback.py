"""What a student is told, as plain data: `feedback(assignment, grade, submission) -> dict`.

HTML, Markdown and the terminal are made from this and from nothing else, so that they say the same
in the same words. All text in it is clean. Of a hidden check it holds the question, the status and
the hint, and what the assignment's disclosure adds; of a hidden run the status.
"""

from __future__ import annotations

from typing import Any

from grader import plots
from grader.compared import MAX_ROWS
from grader.excerpts import Excerpt, Excerpts
from grader.guarded import level
from grader.plain import cleaned, clip, points
from grader.records import Assignment, Check, Compared, Grade, Run, Submission
from grader.words import words


def feedback(
    assignment: Assignment, grade: Grade, submission: Submission | None = None
) -> dict[str, Any]:
    """All that a student's page shows, in its order.

    Args:
        assignment: whose titles, disclosure and language are used.
        grade: with the runs, of which only statuses, costs and output are looked at.
        submission: the files, for the lines that a check concerns; None shows none.
    """
    told = _Teller(assignment, submission)
    hidden = {case.name for case in assignment.cases if case.hidden}
    shown = {
        "assignment": assignment.name,
        "title": assignment.title,
        "student": grade.student,
        "total": told.share(grade.points, grade.possible, "total"),
        "state": _state(grade.points, grade.possible),
        "notices": [*([told.words["review"]] if grade.review else []), *grade.notices],
        "stopped": [
            told.stopped(run, hidden=run.case in hidden) for run in grade.runs if run.status != "ok"
        ],
        "parts": [
            told.part(part.title, [check for check in grade.checks if check.part == part.name])
            for part in assignment.parts
        ],
        "curves": [
            curve
            for run in grade.runs
            if run.case not in hidden and (curve := plots.curve(run.output, told.words))
        ],
        "runs": [told.run(run) for run in grade.runs],
        "outputs": [
            output for run in grade.runs if run.case not in hidden for output in told.outputs(run)
        ],
        "words": told.words,
    }
    plain: dict[str, Any] = cleaned(shown)
    return plain


def _state(earned: float, possible: float) -> str:
    """Whether all, some or nothing was earned."""
    if earned >= possible - 1e-9:
        return "passed"
    return "partial" if earned > 0 else "failed"


class _Teller:
    """Says things in the words of a language, the same hint or lines of a file but once."""

    def __init__(self, assignment: Assignment, submission: Submission | None) -> None:
        self.words = words(assignment)
        self._assignment = assignment
        self._excerpts = Excerpts(assignment, submission)
        self._shown: set[Excerpt | tuple[str, str]] = set()

    def share(self, earned: float, possible: float, name: str = "share") -> str:
        return self.words[name].format(earned=points(earned), possible=points(possible))

    def part(self, title: str, checks: list[Check]) -> dict[str, Any]:
        earned, possible = (
            sum(getattr(check, name) for check in checks) for name in ("earned", "points")
        )
        return {
            "title": title,
            "share": self.share(earned, possible),
            "earned": earned,
            "points": possible,
            "state": _state(earned, possible),
            "checks": [self.check(check) for check in checks],
        }

    def check(self, check: Check) -> dict[str, Any]:
        passed = check.status == "passed"
        much = level(self._assignment, check)
        message = {"name": None, "message": check.guarded, "all": check.message}[much]
        everything = not passed and much == "all"
        lost = not passed and much != "name" and check.status in ("failed", "partial")
        return {
            "status": check.status,
            "status_word": self.words[check.status],
            "share": self.share(check.earned, check.points),
            "where": self.words["on_other_data" if check.hidden else "on_your_data"],
            "asked": " ".join(check.asked.split()),
            "message": None if passed or message is None else self.clip(message),
            "diagnosis": None if passed else check.diagnosis,
            "hint": None if passed else self.hint(check),
            "excerpts": self.excerpts(self._excerpts.of(check)) if lost else [],
            "compared": _rows(check.compared) if everything else [],
            "more": self.words["more_values"].format(count=MAX_ROWS)
            if everything and len(check.compared) > MAX_ROWS
            else None,
            "plots": [plots.plot(one, self.words) for one in check.series] if everything else [],
        }

    def hint(self, check: Check) -> str | None:
        """A check's hint where it is first of use."""
        new = check.hint and (check.name, check.hint) not in self._shown
        if check.hint:
            self._shown.add((check.name, check.hint))
        return check.hint if new else None

    def excerpts(self, found: list[Excerpt]) -> list[dict[str, str]]:
        """Lines of the student's files, those that were not shown above."""
        new = [one for one in found if one not in self._shown]
        self._shown.update(new)
        titles = [self.words["one_line" if one[1] == one[2] else "many_lines"] for one in new]
        return [
            {"title": title.format(file=file, first=first, last=last), "text": text}
            for title, (file, first, last, text) in zip(titles, new, strict=True)
        ]

    def stopped(self, run: Run, *, hidden: bool) -> dict[str, Any]:
        """A run that did not end well."""
        sentence = self.words["stopped_hidden" if hidden else "stopped"]
        message = None if hidden or run.message is None else run.message
        return {
            "status": run.status,
            "sentence": sentence.format(case=run.case, status=self.words[f"run_{run.status}"]),
            "message": None if message is None else self.clip(message),
            "excerpts": self.excerpts(self._excerpts.at(message or "")),
        }

    def run(self, run: Run) -> dict[str, Any]:
        return {
            "case": run.case,
            "status": run.status,
            "status_word": self.words[f"run_{run.status}"],
            "seconds": f"{run.seconds:.1f}",
            "memory": f"{run.memory_mb:.0f}",
        }

    def outputs(self, run: Run) -> list[dict[str, str]]:
        """What a run printed, on the one stream and the other."""
        streams = (("printed", run.output), ("printed_errors", run.errors))
        return [
            {"title": self.words[name].format(case=run.case), "text": self.clip(text)}
            for name, text in streams
            if text.strip()
        ]

    def clip(self, text: str) -> str:
        return clip(text, self.words["left_out"])


def _rows(found: tuple[Compared, ...]) -> list[dict[str, str]]:
    return [vars(row) for row in found[:MAX_ROWS]]
