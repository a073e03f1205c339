"""The command `grader`. Exit status 0 means done, 2 a fault of ours or of the caller's."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.bundles import commands as bundles
from grader.ci import commands as ci
from grader.records import Assignment, GraderError, Tier

if TYPE_CHECKING:
    from grader.batch import Means
    from grader.runner import Runner

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grades homework on transformers, each submission run apart from itself.",
)
app.add_typer(bundles.app, name="bundles")
app.add_typer(ci.app, name="ci")
_out = Console()
_err = Console(stderr=True)

_Lab = Annotated[str, typer.Argument(help="The lab's name; `grader labs` lists them.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine to read.")]
_Seconds = Annotated[
    float | None,
    typer.Option(min=0.1, help="Wall clock of a run, instead of the assignment's own."),
]
_Out = Annotated[Path, typer.Option(help="Where the results go.")]
_Bundle = Annotated[
    str, typer.Option(help="What to grade on: a bundle, or a folder with a bundle.toml.")
]
_Extensions = Annotated[
    Path | None, typer.Option(help="A CSV of student and due: other due dates.")
]
_BundleDir = Annotated[Path | None, typer.Option(help="Where the files of a published bundle lie.")]
_Templates = Annotated[
    Path | None,
    typer.Option(help="A folder of templates and words that go before the grader's own."),
]
_Language = Annotated[
    str | None, typer.Option(help="Of the pages' own words, such as en or de; the lab's else.")
]


def main() -> None:
    """Run the command; a fault of ours or the caller's is one sentence and exit status 2."""
    try:
        app()
    except GraderError as problem:
        _err.print(Text(f"grader: {problem}", style="red"), soft_wrap=True)
        sys.exit(2)


@app.command()
def grade(
    lab: _Lab,
    submissions: Annotated[
        list[Path],
        typer.Argument(help="A class's folder or download; or students' folders or files."),
    ],
    out: _Out = Path("results"),
    layout: Annotated[
        str | None, typer.Option(help="How to read the download, instead of as it seems to be.")
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="A CSV of each student's names in all systems.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="A CSV of student, time and maybe commit: who when.")
    ] = None,
    ref: Annotated[
        str | None, typer.Option(help="The branch or tag to grade of repositories.")
    ] = None,
    extensions: _Extensions = None,
    case: Annotated[str | None, typer.Option(help="Grade in this case alone.")] = None,
    bundle: _Bundle = "tiny",
    bundle_dir: _BundleDir = None,
    seconds: _Seconds = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; by default one a processor.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything again, whatever is stored.")
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(help="Run on the Dask cluster of this address.")
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, help="How often a run that failed through us is made again.")
    ] = 1,
    require_sandbox: Annotated[
        Tier | None, typer.Option(help="Refuse to run submissions confined less than this.")
    ] = None,
    trust_submissions: Annotated[
        bool, typer.Option("--trust-submissions", help="Run them even with limits alone.")
    ] = False,
    templates: _Templates = None,
    language: _Language = None,
    as_json: _Json = False,
) -> None:
    """Grade a class and write grades and feedback; what has not changed is not graded again."""
    from grader.assignment import load
    from grader.attempts import Told
    from grader.layouts import find

    assignment = _extended(load(lab, bundle=bundle, case=case, seconds=seconds), extensions)
    assignment = _in_words(assignment, templates, language)
    remarks: list[str] = []
    found = find(assignment, submissions, Told(roster, record, ref), remarks, layout)
    for remark in remarks:
        _err.print(Text(remark), soft_wrap=True)

    from grader import batch, classlist, pipeline  # torch takes seconds to import
    from grader.progress import Progress
    from grader.results import Results

    min_tier = "limits" if trust_submissions else require_sandbox or assignment.min_tier
    progress = Progress(_err, f"grading {lab}", len(found))
    with (
        batch.open_runner(assignment, bundle_dir, min_tier) as runner,
        Results(out, assignment, min_tier) as results,
        _means(scheduler, assignment, runner, bundle_dir) as means,
    ):
        means = replace(means, workers=workers or means.workers, retries=retries)
        try:
            graded = pipeline.grade_class(assignment, found, results, runner, means, fresh=fresh)
            with progress:  # which has a thread of its own
                for outcome in graded:
                    progress.show(outcome)
        finally:
            page = classlist.save(out, assignment)
    if as_json:
        _print_json(
            {"grades": [g for g in classlist.grades(out, assignment) if g["student"] in found]}
        )
        return
    from grader import render

    _out.print(render.table_of_class(assignment, classlist.rows(out, assignment, found)))
    _out.print(Text(f"feedback: {page}"), soft_wrap=True)


def _extended(assignment: Assignment, extensions: Path | None) -> Assignment:
    """The assignment with the due dates of students who have others."""
    from grader import late

    if extensions is None:
        return assignment
    return replace(assignment, late=late.with_extensions(assignment.late, extensions))


@contextlib.contextmanager
def _means(
    scheduler: str | None, assignment: Assignment, runner: Runner, bundle_dir: Path | None
) -> Iterator[Means]:
    """How runs are made: here, or on a cluster."""
    from grader.batch import Means

    if scheduler is None:
        yield Means()
        return
    try:
        from grader import cluster
    except ModuleNotFoundError:
        raise GraderError("--scheduler needs Dask: pip install 'torch-grader[cluster]'") from None
    with cluster.connect(scheduler, assignment, runner, bundle_dir) as means:
        yield means


@app.command()
def regrade(
    lab: _Lab,
    out: Annotated[Path, typer.Argument(help="Where the results are.")] = Path("results"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say who would change, and write nothing.")
    ] = False,
    extensions: _Extensions = None,
    bundle: _Bundle = "tiny",
    bundle_dir: _BundleDir = None,
    templates: _Templates = None,
    language: _Language = None,
    as_json: _Json = False,
) -> None:
    """Grade again from stored runs, after a change of points, tolerances, hints or checks."""
    from grader import batch, classlist, pipeline
    from grader.assignment import load
    from grader.results import Results

    assignment = _extended(load(lab, bundle=bundle), extensions)
    assignment = _in_words(assignment, templates, language)
    _need_results(out, lab)

    def to_run(case: str, count: int) -> None:
        _err.print(f"case {case} or its probes have changed: {count} to run again", soft_wrap=True)

    def agree(changes: list[pipeline.Change]) -> bool:
        if as_json:
            _print_json({"changes": [vars(change) for change in changes]})
        else:
            for change in changes:
                _out.print(Text(pipeline.told(change)), soft_wrap=True)
            _out.print(f"{len(changes)} of the grades change", soft_wrap=True)
        return not dry_run

    with batch.open_runner(assignment, bundle_dir) as runner, Results(out, assignment) as results:
        problems = pipeline.regrade(assignment, results, runner, to_run=to_run, agree=agree)
        if not dry_run:
            classlist.save(out, assignment)
    if problems:
        raise GraderError("; ".join(problems))


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="The results, of all labs or of one.")],
    format_: Annotated[str, typer.Option("--format", help="For which tool; see the docs.")],
    lab: Annotated[str | None, typer.Option(help="Which lab, where there are several.")] = None,
    student: Annotated[
        list[str] | None, typer.Option(help="This student alone; may be given again.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="Your own export of the gradebook, to fill in.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="Which column of it.")] = None,
    scale: Annotated[
        bool, typer.Option("--scale", help="In proportion, where its maximum is another.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option(help="The file or, for formats by student, the folder.")
    ] = None,
) -> None:
    """Write grades as another tool reads them: one file, or one a student into a folder."""
    from grader.export.write import write

    remarks: list[str] = []
    text = write(
        out, format_, to, remarks,
        lab=lab, students=student or (), into=into, column=column, scale=scale,
    )  # fmt: skip
    for remark in remarks:
        _err.print(Text(remark), soft_wrap=True)
    if text is not None:
        sys.stdout.buffer.write(text)


@app.command()
def check(
    lab: _Lab,
    path: Annotated[Path, typer.Argument(help="Your folder or file.")] = Path(),
    seconds: _Seconds = None,
    language: _Language = None,
    as_json: _Json = False,
) -> None:
    """Check your own work on the public cases, before you hand it in."""
    from grader import batch, render
    from grader.assignment import load
    from grader.collect import collect
    from grader.feedback import feedback
    from grader.store import grade_as_json

    assignment = _in_words(load(lab, public=True, seconds=seconds), None, language)
    submission = collect(assignment, path)
    with batch.open_runner(assignment, min_tier="limits") as runner:  # it is their own work
        ((grade, _),) = batch.grade_all(assignment, [submission], runner)
    if as_json:
        _print_json({"grades": [grade_as_json(grade)]})
    else:
        render.print_feedback(_out, feedback(assignment, grade, submission))


@app.command()
def watch(
    lab: _Lab,
    path: Annotated[Path, typer.Argument(help="Your folder or file.")] = Path(),
    seconds: _Seconds = None,
    language: _Language = None,
) -> None:
    """Check your own work again whenever you save it, until Ctrl-C."""
    from grader import batch, live
    from grader.assignment import load

    assignment = _in_words(load(lab, public=True, seconds=seconds), None, language)
    with (
        contextlib.suppress(KeyboardInterrupt),
        batch.open_runner(assignment, min_tier="limits") as runner,
    ):
        live.watch(assignment, path, runner, _out, live.saves(path))


@app.command()
def pages(
    lab: _Lab,
    out: Annotated[Path, typer.Argument(help="Where the results are.")] = Path("results"),
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Write anonymous.html, with codes for names, alone.")
    ] = False,
    bundle: _Bundle = "tiny",
    templates: _Templates = None,
    language: _Language = None,
) -> None:
    """Write the pages of a class again, in other words or looks; nothing is run or graded."""
    from grader import classlist
    from grader import pages as writer
    from grader.assignment import load
    from grader.results import Results

    assignment = _in_words(load(lab, bundle=bundle), templates, language)
    _need_results(out, lab)
    with Results(out, assignment) as results:
        if anonymous:
            page = classlist.save_anonymous(out, assignment)
        else:
            writer.rewrite(results, assignment)
            page = classlist.save(out, assignment)
    _out.print(Text(f"feedback: {page}"), soft_wrap=True)


@app.command()
def verify(
    lab: Annotated[str | None, typer.Argument(help="The lab's name.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All labs of the course.")] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Also run machine-made changes of the solution.")
    ] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="First set the lab's bands from right runs.")
    ] = False,
    draws: Annotated[int, typer.Option(min=1, help="Draws of rows to calibrate on.")] = 2,
    bundle: _Bundle = "tiny",
    bundle_dir: _BundleDir = None,
    out: Annotated[Path | None, typer.Option(help="Where a page of it goes, as HTML.")] = None,
    as_json: _Json = False,
) -> None:
    """Grade the grader: every file of known grade must get it. Exit status 1 where one does not."""
    from grader import batch, files, matrix, mutation
    from grader import verify as verifier
    from grader.assignment import load
    from grader.home import labs as names

    if (lab is None) != every:
        raise GraderError("name a lab, or say --all for every lab of the course")
    done = []
    for name in names() if lab is None else [lab]:
        assignment = load(name, bundle=bundle)
        with batch.open_runner(assignment, bundle_dir) as runner:
            if calibrate:
                _calibrate(assignment, runner, draws)
                assignment = load(name, bundle=bundle)
            found = verifier.verify(assignment, runner)
            tested = mutation.mutate(assignment, runner) if mutants and found.rows else None
        done.append((found, tested))
        if not as_json:
            _out.print(matrix.tables(found, tested))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write(out, matrix.page(done))
    if as_json:
        _print_json(matrix.as_json(done))
    if not all(matrix.holds(*pair) for pair in done):
        raise typer.Exit(1)


@app.command()
def labs(as_json: _Json = False) -> None:
    """List the labs of the course."""
    from grader.assignment import load
    from grader.home import labs as names

    loaded = [load(name, public=True) for name in names()]
    if as_json:
        rows = [{"name": a.name, "title": a.title, "file": a.file} for a in loaded]
        _print_json({"labs": rows})
        return
    table = Table("lab", "file", "points", "title")
    for assignment in loaded:
        total = sum(part.points for part in assignment.parts)
        table.add_row(assignment.name, assignment.file, f"{total:g}", assignment.title)
    _out.print(table)


@app.command()
def doctor(as_json: _Json = False) -> None:
    """Report versions, bundles, and which protections hold here."""
    from grader import doctor as examiner

    found = examiner.examine()
    if as_json:
        _print_json(found)
        return
    for name in ("grader", "python", "system", "course"):
        _out.print(Text(f"{name}: {found[name]}"), soft_wrap=True)
    for group in ("packages", "bundles"):
        for name, value in found[group].items():
            _out.print(Text(f"{group[:-1]} {name}: {value}"), soft_wrap=True)
    _out.print(Text(f"sandbox: tier {found['tier']}"), soft_wrap=True)
    for row in found["protections"]:
        state = ("kept from ", "green") if row["active"] else ("NOT kept from ", "red")
        _out.print(Text.assemble(state, f"{row['name']}: {row['by']}"), soft_wrap=True)
    if notice := examiner.platform_notice():
        _out.print(Text(notice, style="red"), soft_wrap=True)


def _in_words(assignment: Assignment, templates: Path | None, language: str | None) -> Assignment:
    """An assignment with other words or looks, which are looked for before anything is run."""
    from grader.words import words

    chosen = replace(assignment, templates=templates, language=language or assignment.language)
    words(chosen)
    return chosen


def _need_results(out: Path, lab: str) -> None:
    if not (out / lab / "journal.jsonl").is_file():
        raise GraderError(f"{out / lab}: no results of {lab} are there; grade first")


def _calibrate(assignment: Assignment, runner: Runner, draws: int) -> None:
    """Write a lab's bands, and say what they cannot do."""
    from grader import bundles, calibrate, files
    from grader.bands import as_toml, path_of

    made = calibrate.calibrate(assignment, runner, draws)
    path = path_of(assignment.folder, bundles.named(assignment.cases[0].bundle))
    path.parent.mkdir(exist_ok=True)
    files.write(path, as_toml(made.bands, assignment.name))
    _err.print(Text(f"bands: {path}"), soft_wrap=True)
    for problem in made.problems:
        _err.print(Text(problem, style="red"), soft_wrap=True)


def _print_json(content: object) -> None:
    """JSON in ASCII, so that no terminal or encoding can be upset by what a submission printed."""
    sys.stdout.write(json.dumps(content, indent=2) + "\n")
