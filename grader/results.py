"""A results folder: what each student got, what it was made from, and the pages of the class.

<out>/<assignment>/<student>/grade.json, report.json, feedback.html, feedback.md
<out>/<assignment>/<student>/runs/<case>.json, <case>.safetensors
<out>/<assignment>/<student>/submission/..., submission.json     what was handed in, as collected
<out>/<assignment>/<student>/former/<n>.json                     grades that this one replaced
<out>/<assignment>/index.html, grades.csv, journal.jsonl

A student's files are written first and told in the journal last, so that what a killed grader left
half done is done again and nothing else is. One grader at a time holds the folder.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import filelock

from grader import keys, pages, store
from grader.codec import WireError
from grader.files import UNFINISHED, write
from grader.records import (
    TIERS,
    Assignment,
    Case,
    Grade,
    GraderError,
    Run,
    Submission,
    Tier,
)

_LIMITED = ("timeout", "memory")  #: statuses that a higher limit may change


class Results:
    """The results of one assignment, held by one grader at a time in a `with` block."""

    def __init__(self, out: Path, assignment: Assignment, min_tier: Tier | None = None) -> None:
        self.folder = out / assignment.name
        self._assignment = assignment
        self._tiers = TIERS[: TIERS.index(min_tier or assignment.min_tier) + 1]
        self._lock = filelock.FileLock(self.folder / ".lock", timeout=0)
        self._journal = self.folder / "journal.jsonl"
        self._entries: dict[str, dict[str, Any]] = {}
        self._runs: dict[tuple[str, str], Path] = {}  # by digests of submission and world

    def __enter__(self) -> Results:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise GraderError(
                f"{self.folder}: another grader is writing there; wait, or give another --out"
            ) from None
        for torn in self.folder.rglob(f".*{UNFINISHED}"):
            torn.unlink()
        for entry in _read_journal(self._journal):
            self._note(entry)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def _note(self, entry: dict[str, Any]) -> None:
        self._entries[entry["student"]] = entry
        for case, world in entry["worlds"].items():
            path = self.folder / entry["student"] / "runs" / case
            self._runs[entry["submission"], world] = path

    def students(self) -> list[str]:
        """The students who have a grade here, sorted."""
        return sorted(name for name in self._entries if (self.folder / name).is_dir())

    def stored(self, case: Case, submission: str, world: str) -> Run | None:
        """The run of these files in this world, if it was made before, by whomever."""
        path = self._runs.get((submission, world))
        if path is None:
            return None
        try:
            run = store.load_run(path)
        except (OSError, ValueError, WireError):
            return None
        same = (run.submission, run.world) == (submission, world)
        confined = run.tier is None or run.tier in self._tiers
        return replace(run, case=case.name) if same and confined else None

    def kept(self, case: Case, submission: str, world: str) -> Run | None:
        """The stored run, unless it met a limit that has been raised since."""
        run = self.stored(case, submission, world)
        if run is None or run.status not in _LIMITED:
            return run
        entry = self._entries[self._runs[submission, world].parent.parent.name]
        limits = [
            limits for name, limits in entry["limits"].items() if entry["worlds"][name] == world
        ]
        return run if all(_within(case, one) for one in limits) else None

    def has_run(self, student: str, world: str) -> bool:
        """Whether there is a run of a student's files in a world, theirs or another's."""
        return (self._entries[student]["submission"], world) in self._runs

    def holds(self, student: str, run: Run) -> bool:
        """Whether this very run is among the student's own."""
        entry = self._entries[student]
        stored = entry["submission"], entry["worlds"].get(run.case)
        return stored == (run.submission, run.world)

    def finished(self, student: str, digest: str) -> dict[str, Any] | None:
        """The journal's entry of a student whose grade is there and would not change."""
        entry = self._entries.get(student)
        there = (self.folder / student / "grade.json").is_file()
        if not entry or not there or entry["grade"] != digest:
            return None
        met = [case for case in self._assignment.cases if entry["runs"][case.name] in _LIMITED]
        return entry if all(_within(case, entry["limits"][case.name]) for case in met) else None

    def submission(self, student: str) -> Submission:
        """What a student handed in, as it was collected.

        Raises:
            GraderError: it is not there or not whole.
        """
        folder = self.folder / student
        try:
            about = json.loads((folder / "submission.json").read_text("utf-8"))
            files = {name: (folder / "submission" / name).read_bytes() for name in about["files"]}
            notices = tuple(about["notices"])
            ids, when = about.get("ids", {}), about.get("handed_in")
            found = Submission(
                student, files, about["entry"], about["problem"], notices, ids,
                when and datetime.datetime.fromisoformat(when),
            )  # fmt: skip
        except (OSError, ValueError, KeyError) as problem:
            raise GraderError(
                f"{folder}: what was handed in cannot be read ({problem}); grade it again"
            ) from None
        if keys.of_submission(found) != self._entries[student]["submission"]:
            raise GraderError(f"{folder / 'submission'}: altered since; grade it again")
        return found

    def save(
        self,
        submission: Submission,
        grade: Grade,
        report: dict[str, Any],
        digest: str,
        runs: Sequence[Run],
    ) -> str | None:
        """Write a student's results and tell the journal, see `write`; why not, if not."""
        entry = self.write(submission, grade, report, digest, runs)
        if isinstance(entry, str):
            return entry
        self.tell(entry)
        return None

    def write(
        self,
        submission: Submission,
        grade: Grade,
        report: dict[str, Any],
        digest: str,
        runs: Sequence[Run],
    ) -> dict[str, Any] | str:
        """Write a student's results, all but the journal's; or leave the former ones and say why.

        Different students' may be written in several processes at once. A grade whose checks went
        wrong on our side never replaces one of the same files whose checks did not.

        Args:
            submission: what was graded.
            grade: what came of it.
            report: pytest's own report.
            digest: of all that the grade depends on, see `keys.of_grade`.
            runs: those of the grade that are not stored yet.

        Returns:
            The entry to be told in the journal; or why nothing was written.
        """
        folder = self.folder / grade.student
        files = keys.of_submission(submission)
        former = self.former(grade.student)
        same = self._entries.get(grade.student, {}).get("submission") == files
        wrong = [check for check in grade.checks if check.status == "error"]
        if former and same and wrong and not former["review"]:
            return f"{grade.student}: the former grade stands: check {wrong[0].name} went wrong"
        folder.mkdir(exist_ok=True)
        _save_submission(folder, submission, again=not same)
        for run in runs:
            store.save_run(folder / "runs" / run.case, run)
        if former and _essence(former) != _essence(store.grade_as_json(grade)):
            _keep_former(folder)
        pages.write(folder, self._assignment, grade, submission)
        store.save_grade(folder, grade, report)
        return {
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "student": grade.student,
            "points": grade.points,
            "possible": grade.possible,
            "runs": {run.case: run.status for run in grade.runs},
            "limits": {case.name: _limits(case) for case in self._assignment.cases},
            "submission": files,
            "worlds": {run.case: run.world for run in grade.runs},
            "grade": digest,
        }

    def former(self, student: str) -> dict[str, Any] | None:
        """The grade that a student has now, as `grade.json` holds it."""
        try:
            content = (self.folder / student / "grade.json").read_text("utf-8")
            found: dict[str, Any] = json.loads(content)
        except (OSError, ValueError):
            return None
        return found

    def tell(self, entry: dict[str, Any]) -> None:
        """Tell the journal that a student's results are there."""
        line = json.dumps(entry, allow_nan=False).encode() + b"\n"
        with self._journal.open("ab") as stream:
            stream.write(line)
        self._note(entry)


def _limits(case: Case) -> list[float]:
    return [case.seconds, case.memory_mb]


def _within(case: Case, limits: Sequence[float]) -> bool:
    """Whether a case allows no more than these limits."""
    return all(now <= then for now, then in zip(_limits(case), limits, strict=True))


def _read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The entries, oldest first; a line that a killed grader left torn is closed and left out."""
    if not path.exists():
        return
    with path.open("rb+") as stream:
        for line in stream:
            with contextlib.suppress(ValueError):
                yield json.loads(line)
        if stream.tell() and not line.endswith(b"\n"):
            stream.write(b"\n")


def _save_submission(folder: Path, submission: Submission, *, again: bool) -> None:
    """Write what is known of a submission, and its files where they are not there yet."""
    if again:
        shutil.rmtree(folder / "submission", ignore_errors=True)
    for name, data in submission.files.items() if again else ():
        path = folder / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    about = {
        "entry": submission.entry,
        "problem": submission.problem,
        "notices": submission.notices,
        "ids": dict(submission.ids),
        "handed_in": submission.handed_in.isoformat() if submission.handed_in else None,
        "files": list(submission.files),
    }
    write(folder / "submission.json", json.dumps(about, indent=1))


def _keep_former(folder: Path) -> None:
    kept = folder / "former"
    kept.mkdir(exist_ok=True)
    number = 1 + len(list(kept.glob("*.json")))
    write(kept / f"{number}.json", (folder / "grade.json").read_bytes())


def _essence(grade: Mapping[str, Any]) -> dict[str, Any]:
    """A grade without what differs from run to run."""
    runs = [{name: run[name] for name in ("case", "status", "message")} for run in grade["runs"]]
    plain: dict[str, Any] = json.loads(json.dumps({**grade, "runs": runs}))
    return plain
