"""The commands `grader ci ...`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from grader.ci import Classroom
from grader.records import GraderError, Tier

app = typer.Typer(no_args_is_help=True, help="Grade where students hand in.")
init = typer.Typer(no_args_is_help=True, help="Write what a platform needs.")
app.add_typer(init, name="init")

_Lab = Annotated[str, typer.Argument(help="The lab's name.")]
_Trust = Annotated[
    bool, typer.Option("--trust-submissions", help="Run submissions even with limits alone.")
]


@init.command()
def github(
    lab: _Lab,
    course: Annotated[
        str, typer.Option(help="The hidden side: OWNER/NAME@REF, or OWNER/NAME@TAG:ASSET.")
    ],
    to: Annotated[Path, typer.Option(help="The workflow file.")] = Path(
        ".github/workflows/grade.yml"
    ),
    secret: Annotated[str, typer.Option(help="The secret that opens it.")] = "GRADER_KEY",  # noqa: S107
    sha256: Annotated[str | None, typer.Option(help="What the asset must be.")] = None,
    classroom: Annotated[Classroom, typer.Option(help="Whose notices to give.")] = "none",
    fail_below: Annotated[
        float | None, typer.Option(min=0, max=100, help="Percent below which the job fails.")
    ] = None,
    grader: Annotated[str | None, typer.Option(help="What pip installs as the grader.")] = None,
) -> None:
    """Write the workflow for the repository that students start from."""
    from grader.ci import init as writer

    text = writer.github(
        lab,
        writer.hidden(course, sha256),
        secret=secret,
        classroom=classroom,
        fail_below=fail_below,
        requirement=grader,
    )
    _save(to, text.encode())


@init.command()
def gradescope(
    lab: _Lab,
    to: Annotated[Path, typer.Option(help="The zip.")] = Path("autograder.zip"),
    trust_submissions: _Trust = False,
) -> None:
    """Write the autograder's zip, with the hidden side in it: it stays with the instructor."""
    from grader.ci import init as writer

    _save(to, writer.gradescope(lab, trust=trust_submissions))


@app.command()
def report(
    out: Annotated[Path, typer.Argument(help="The results of one submission.")],
    classroom: Annotated[Classroom, typer.Option(help="Whose notices to give.")] = "none",
    fail_below: Annotated[
        float | None, typer.Option(min=0, max=100, help="Percent below which this fails.")
    ] = None,
) -> None:
    """Tell GitHub Actions how a submission came out: notes, summary and outputs."""
    from grader.ci.report import report as lines
    from grader.export import read_results

    graded = read_results(out)
    if len(graded) != 1:
        raise GraderError(f"{out}: {len(graded)} submissions are there; a report is of one")
    for line in lines(graded[0], os.environ, classroom):
        sys.stdout.buffer.write(f"{line}\n".encode("utf-8", "replace"))
    grade = graded[0].grade
    if fail_below is not None and grade["points"] < grade["possible"] * fail_below / 100 - 1e-9:
        raise typer.Exit(1)


@app.command("gradescope")
def grade_on_gradescope(
    lab: _Lab,
    root: Annotated[Path, typer.Argument(help="The platform's folder.")] = Path("/autograder"),
    trust_submissions: _Trust = False,
) -> None:
    """Grade the submission that Gradescope laid out, and write its results file."""
    from grader.ci import gradescope as platform

    platform.grade(lab, root, _tier(trust_submissions))


@app.command()
def warm(lab: _Lab, trust_submissions: _Trust = False) -> None:
    """Compute what the reference solution gives, so that no submission waits for it."""
    import tempfile

    from grader.assignment import load
    from grader.ci.gradescope import gradescope_text
    from grader.collect import of_path

    assignment = load(lab)
    source = of_path(assignment, assignment.folder / assignment.file)
    with tempfile.TemporaryDirectory() as folder:
        gradescope_text(assignment, source, Path(folder), _tier(trust_submissions))


def _tier(trust: bool) -> Tier | None:
    return "limits" if trust else None


def _save(path: Path, data: bytes) -> None:
    from grader.files import write

    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, data)
    sys.stderr.write(f"written: {path}\n")
