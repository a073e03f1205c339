"""The nouns of the harness, as frozen records, and the exceptions that are for staff.

A student's fault is never an exception: it is a `status` with a message in a `Run` or a `Check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:  # torch takes seconds to import, and `grader --help` needs none of it
    import torch

#: What may cross the pipe from a submission: plain data and tensors, nothing that has behaviour.
Value: TypeAlias = "None | bool | int | float | str | torch.Tensor | list[Value] | dict[str, Value]"

RunStatus = Literal["ok", "error", "timeout", "memory", "crashed", "output", "missing", "blocked"]
#: How strongly a run is confined, from the strongest to the weakest; see docs/administrator.md.
Tier = Literal["full", "container", "limits"]
TIERS: tuple[Tier, ...] = ("full", "container", "limits")
CheckStatus = Literal["passed", "partial", "failed", "error", "not_run"]
#: What a student sees of a hidden check that was lost, besides its question, status and hint:
#: nothing, the message without expected values, or all that is shown of a public one.
Disclosure = Literal["name", "message", "all"]


class GraderError(Exception):
    """A fault of ours or of the caller's: one sentence that names the file, the field, the mend."""


class AssignmentError(GraderError):
    """A lab's own files are wrong: assignment.toml, probes, checks or the solution."""


class BundleError(GraderError):
    """A bundle (encoder, tokenizer, data) is missing, incomplete or altered."""


class SandboxError(GraderError):
    """Submissions cannot be run here as safely as was asked for."""


@dataclass(frozen=True)
class Part:
    """A part of an assignment that earns points."""

    name: str  #: how checks refer to it, a Python identifier
    title: str  #: what a student reads
    points: float  #: what the part is worth over all its checks and cases


@dataclass(frozen=True)
class Case:
    """The world in which a submission runs: a bundle, some of its rows, a seed."""

    name: str  #: unique within the assignment
    bundle: str  #: a name, "tiny" or "banking77"; or the path of a folder with a bundle.toml
    train: int | None  #: training queries drawn from the bundle, None for all of them
    val: int | None  #: validation queries, likewise
    test: int | None  #: test queries, likewise
    seed: int  #: which rows are drawn
    share: float  #: the part of every check's points that is earned in this case, 0 to 1
    hidden: bool  #: whether students see neither its rows nor its expected values
    seconds: float  #: wall clock for the script, and again for each probe
    memory_mb: int  #: what a submission may use on top of the loaded libraries


@dataclass(frozen=True)
class LateRule:
    """What handing in late costs, see `late`."""

    due: datetime  #: with its zone
    zone: str | None = None  #: its name, where the times of the class are local ones
    grace_minutes: float = 0.0  #: after the due date, in which it costs nothing
    penalty: float = 0.0  #: percent of the points to be had, for each day or hour begun
    per: Literal["day", "hour"] = "day"
    cap: float = 100.0  #: percent that are taken off at most
    attempts: Literal["last", "best"] = "last"  #: which counts: the last in time, or the best
    extensions: Mapping[str, datetime] = field(default_factory=dict)  #: due dates by student


@dataclass(frozen=True)
class Assignment:
    """One lab, as its `assignment.toml` and the files beside it describe it."""

    name: str  #: the folder's name, and what is typed on the command line
    title: str  #: what a student reads
    file: str  #: the name of the file a student hands in
    parts: tuple[Part, ...]  #: in the order of the task
    cases: tuple[Case, ...]  #: the cases that are run, public ones first
    support: tuple[str, ...]  #: course scripts whose result is put beside the submission
    folder: Path  #: the student's side, assignments/<lab>
    course: Path  #: the course modules, assignments/course
    solutions: Path | None  #: the instructor's side, solutions/<lab>, None in a student's copy
    min_tier: Tier = "container"  #: submissions are not run where they would be confined less
    bands: Mapping[str, float] = field(default_factory=dict)  #: how far values may be off, by name
    late: LateRule | None = None  #: when it is due, None where lateness costs nothing
    #: what is shown of hidden checks, by name, and under "default" of all others
    disclosure: Mapping[str, Disclosure] = field(default_factory=dict)
    language: str = "en"  #: of the pages' own words
    templates: Path | None = None  #: a folder whose files are used instead of the templates' own
    #: from which each student's hidden cases get their seed; None where all have the same
    secret: str | None = field(default=None, repr=False)

    @property
    def possible(self) -> float:
        """The points that the assignment's cases give in all; the same for every submission."""
        return sum(part.points for part in self.parts) * sum(case.share for case in self.cases)


@dataclass(frozen=True)
class Submission:
    """One student's files as collected."""

    student: str  #: the folder's name, or the file's for a lone file
    files: Mapping[str, bytes]  #: content by relative path, links and junk left out
    entry: str | None  #: which of the files is the one asked for, None where there is none
    problem: str | None = None  #: why there is no entry, in one sentence to the student
    notices: tuple[str, ...] = ()  #: what was tidied, told to the student
    ids: Mapping[str, str] = field(default_factory=dict)  #: the student's other names, by system
    handed_in: datetime | None = None  #: when, with its zone; None where nobody says


@dataclass(frozen=True)
class Run:
    """What came back from one submission in one case."""

    case: str  #: the case's name
    status: RunStatus  #: how it ended, exactly one
    message: str | None  #: the reason, to the student, None where all went well
    values: Mapping[str, Value] = field(default_factory=dict)  #: answers by probe
    faults: Mapping[str, str] = field(default_factory=dict)  #: why a probe has no answer
    output: str = ""  #: standard output, its head and tail where it was long
    errors: str = ""  #: standard error, likewise
    seconds: float = 0.0  #: wall clock of the child, from fork to exit
    cpu_seconds: float = 0.0  #: its processor time
    memory_mb: float = 0.0  #: its peak, on top of the loaded libraries
    notices: tuple[str, ...] = ()  #: what the student should know though it costs no points
    tier: Tier | None = None  #: how strongly it was confined, None where nothing was run
    submission: str = ""  #: digest of the files that ran, see `keys`
    world: str = ""  #: digest of all else that it depends on
    #: itself as it is stored, where that is there already; a changed copy has none
    packed: tuple[str, bytes] | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True)
class Compared:
    """A value that a check asked for beside the reference's, as a row of a table."""

    what: str  #: the probe and the path in its answer, such as "views[mean 2][rows]"
    expected: str  #: type, shape and a telling entry of the reference's value
    received: str  #: the same of the submission's, "—" where there is none
    error: str  #: how far off it is at most, "" where that has no meaning


@dataclass(frozen=True)
class Series:
    """Numbers of an answer that are better looked at than read."""

    kind: Literal["rows", "names", "numbers"]  #: errors by row or by name, or numbers by name
    what: str  #: the probe and the path in its answer
    names: tuple[str, ...]  #: what each number belongs to
    received: tuple[float | None, ...]  #: errors, or the submission's numbers; None: not finite
    expected: tuple[float, ...] = ()  #: the reference's numbers, for kind "numbers"
    allowed: float | None = None  #: how far a number may be off, None where that is not known


@dataclass(frozen=True)
class Check:
    """One verdict: what a check found in one case."""

    name: str  #: the test's name without "test_"
    part: str  #: the part whose points it gives
    points: float  #: what it is worth in this case
    earned: float  #: 0 to `points`
    status: CheckStatus  #: "error" is a fault of ours and asks for a person
    case: str  #: the case it looked at
    hidden: bool  #: whether its message stays with the instructor
    asked: str  #: what was asked, from the check's docstring
    message: str | None  #: what came instead, None where it passed
    hint: str | None  #: what to look at, None where it passed or none is given
    mistake: str | None = None  #: the known mistake found, None where none was
    diagnosis: str | None = None  #: it and the evidence, to the student, at its first check only
    probes: tuple[str, ...] = ()  #: what the check asked of the submission
    allowed: float | None = None  #: how far the numbers that it compared may be off, at most
    guarded: str | None = None  #: the message without what only the expected values tell
    compared: tuple[Compared, ...] = ()  #: the values that differ from the reference's
    series: tuple[Series, ...] = ()  #: those of them to look at


@dataclass(frozen=True)
class Grade:
    """All checks of one submission and their sum."""

    assignment: str  #: the assignment's name
    student: str  #: whose it is
    points: float  #: what counts: the sum earned less `penalty`, not rounded
    possible: float  #: the same for every submission of the assignment
    review: bool  #: whether a person must look
    notices: tuple[str, ...]  #: what was tidied or is worth knowing
    runs: tuple[Run, ...]  #: one for each case, in the assignment's order
    checks: tuple[Check, ...]  #: in the order of the parts
    tier: Tier | None = None  #: the weakest of its runs', None where nothing was run
    late: float | None = None  #: hours after the due date, None without one or without a time
    penalty: float = 0.0  #: points taken off for lateness; with `points` the sum earned
    handed_in: datetime | None = None  #: when, with its zone; None where nobody says
    ids: Mapping[str, str] = field(default_factory=dict)  #: the student's other names, by system
    digest: str = ""  #: of the files that were graded, see `keys`
