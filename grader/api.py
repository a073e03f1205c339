"""The public interface: what the commands do, as functions. `import grader` gives all of them.

Each raises `GraderError` (or one of its kinds) for a fault of ours or of the caller's, as one
sentence; what a submission does is never an exception.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader import assignment as assignments
from grader import home, layouts
from grader.attempts import Told
from grader.collect import Source, collect
from grader.records import Assignment, Grade, GraderError, Submission, Tier

if TYPE_CHECKING:
    from grader.ci import Classroom
    from grader.pipeline import Change, Outcome
    from grader.verify import Verification

StrPath = str | Path


def labs() -> list[str]:
    """The names of the course's labs, sorted."""
    return home.labs()


def load(
    lab: str,
    *,
    bundle: str = "tiny",
    case: str | None = None,
    public: bool = False,
    seconds: float | None = None,
) -> Assignment:
    """A lab with the cases that are to be run; see `grader.assignment.load`.

    Raises:
        AssignmentError: there is no such lab, or a file of it is wrong.
    """
    return assignments.load(lab, bundle=bundle, case=case, public=public, seconds=seconds)


def find_submissions(
    assignment: Assignment,
    paths: Sequence[StrPath],
    *,
    told: Told | None = None,
    layout: str | None = None,
    remarks: list[str] | None = None,
) -> dict[str, tuple[Source, ...]]:
    """Whose submission is where in a class's download; see `grader.layouts.find`."""
    return layouts.find(assignment, [Path(path) for path in paths], told, remarks, layout)


def read_submission(assignment: Assignment, source: StrPath | Source) -> Submission:
    """One submission's files, tidied; see `grader.collect.collect`."""
    return collect(assignment, source if isinstance(source, Source) else Path(source))


def grade(
    assignment: Assignment,
    *submissions: StrPath | Source | Submission,
    bundle_dir: StrPath | None = None,
    min_tier: Tier | None = None,
) -> list[Grade]:
    """Grade submissions, and write nothing; their grades, in their order.

    Args:
        assignment: the lab.
        submissions: folders, files, archives, what `find_submissions` gave, or what
            `read_submission` did.
        bundle_dir: where the files of the bundle banking77 lie.
        min_tier: how strongly submissions must be confined, instead of the lab's own.

    Raises:
        GraderError: a submission cannot be read or run for our own reasons.
    """
    from grader import batch, keys

    read = [
        each if isinstance(each, Submission) else read_submission(assignment, each)
        for each in submissions
    ]
    folder = Path(bundle_dir) if bundle_dir is not None else None
    where: dict[tuple[str, str, datetime | None], list[int]] = defaultdict(list)
    for place, each in enumerate(read):  # those with the same key have the same grade
        where[each.student, keys.of_submission(each), each.handed_in].append(place)
    grades: dict[int, Grade] = {}
    with batch.open_runner(assignment, folder, min_tier) as runner:
        for made, _ in batch.grade_all(assignment, read, runner):
            grades[where[made.student, made.digest, made.handed_in].pop()] = made
    return [grades[place] for place in range(len(read))]


def check(lab: str, path: StrPath, *, seconds: float | None = None) -> Grade:
    """A student's view of their own work: graded in the public cases, trusted, nothing written."""
    assignment = load(lab, public=True, seconds=seconds)
    (graded,) = grade(assignment, path, min_tier="limits")
    return graded


def grade_class(
    assignment: Assignment,
    paths: Iterable[StrPath],
    out: StrPath = "results",
    *,
    told: Told | None = None,
    layout: str | None = None,
    remarks: list[str] | None = None,
    fresh: bool = False,
    workers: int | None = None,
    bundle_dir: StrPath | None = None,
    min_tier: Tier | None = None,
) -> Iterator[Outcome]:
    """Grade a class into a results folder, as `grader grade` does.

    Args:
        assignment: the lab.
        paths: a class's folder or download, or submissions.
        out: where the results go; what has not changed there is not graded again.
        told: what the instructor says of students and times.
        layout: how to read the download, instead of as it seems to be.
        remarks: told what staff should know of the download.
        fresh: run everything again.
        workers: runs at a time; one for each processor by default.
        bundle_dir: where the files of the bundle banking77 lie.
        min_tier: how strongly submissions must be confined, instead of the lab's own.

    Yields:
        How each student came out, as soon as it is written.

    Raises:
        GraderError: a fault of ours or of the caller's, after all others have been graded.
    """
    from grader import batch, classlist, pipeline
    from grader.results import Results

    found = find_submissions(assignment, list(paths), told=told, layout=layout, remarks=remarks)
    folder = Path(bundle_dir) if bundle_dir is not None else None
    means = batch.Means(workers=workers)
    with (
        batch.open_runner(assignment, folder, min_tier) as runner,
        Results(Path(out), assignment, min_tier) as results,
    ):
        try:
            yield from pipeline.grade_class(assignment, found, results, runner, means, fresh=fresh)
        finally:
            classlist.save(Path(out), assignment)


def regrade_class(
    assignment: Assignment,
    out: StrPath = "results",
    *,
    write: bool = True,
    bundle_dir: StrPath | None = None,
) -> list[Change]:
    """Grade again from stored runs, as `grader regrade` does; who changes.

    Args:
        assignment: the lab as it is now.
        out: the results.
        write: whether the new grades are written.
        bundle_dir: where the files of the bundle banking77 lie.

    Raises:
        GraderError: there are no results, or a student's former grade had to stand.
    """
    from grader import batch, classlist, pipeline
    from grader.results import Results

    out = Path(out)
    if not (out / assignment.name / "journal.jsonl").is_file():
        raise GraderError(f"{out / assignment.name}: no results are there; grade first")
    changes: list[Change] = []

    def agree(found: list[Change]) -> bool:
        changes.extend(found)
        return write

    folder = Path(bundle_dir) if bundle_dir is not None else None
    with batch.open_runner(assignment, folder) as runner, Results(out, assignment) as results:
        problems = pipeline.regrade(
            assignment, results, runner, to_run=lambda *_: None, agree=agree
        )
        if write:
            classlist.save(out, assignment)
    if problems:
        raise GraderError("; ".join(problems))
    return changes


def verify_lab(lab: str) -> Verification:
    """Grade the grader: every file of known grade must get it; see `grader.verify`."""
    from grader import batch, verify

    assignment = load(lab)
    with batch.open_runner(assignment) as runner:
        return verify.verify(assignment, runner)


def export_results(
    out: StrPath,
    format: str,  # noqa: A002 - what the command line calls it
    to: StrPath | None = None,
    *,
    lab: str | None = None,
    students: Collection[str] = (),
    into: StrPath | None = None,
    column: str | None = None,
    scale: bool = False,
    remarks: list[str] | None = None,
) -> bytes | None:
    """Write grades as another tool reads them; see `grader.export.write`."""
    from grader.export.write import write

    return write(
        Path(out),
        format,
        Path(to) if to is not None else None,
        remarks,
        lab=lab,
        students=students,
        into=Path(into) if into is not None else None,
        column=column,
        scale=scale,
    )


def write_github_workflow(
    lab: str,
    course: str,
    to: StrPath = ".github/workflows/grade.yml",
    *,
    classroom: Classroom = "none",
    fail_below: float | None = None,
) -> None:
    """Write the workflow that grades at every push; see `grader.ci.init.github`.

    Args:
        lab: what is graded.
        course: where the hidden side is: OWNER/NAME@REF, or OWNER/NAME@TAG:ASSET.
        to: the file.
        classroom: whose notices and results are given.
        fail_below: percent of the points below which the job fails.
    """
    from grader.ci import init

    text = init.github(lab, init.hidden(course), classroom=classroom, fail_below=fail_below)
    _write(Path(to), text.encode())


def write_gradescope_zip(lab: str, to: StrPath = "autograder.zip") -> None:
    """Write Gradescope's autograder with the hidden side; see `grader.ci.init.gradescope`."""
    from grader.ci import init

    _write(Path(to), init.gradescope(lab))


def _write(path: Path, data: bytes) -> None:
    from grader.files import write

    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, data)
