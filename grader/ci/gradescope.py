"""What Gradescope's `run_autograder` runs: `grade(lab, root)`, where the root is `/autograder`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import batch, classlist, files, late, pipeline
from grader.assignment import load
from grader.collect import Source, of_path
from grader.export.autograders import gradescope
from grader.export.graded import read_results
from grader.records import Assignment, GraderError, Tier
from grader.results import Results


def grade(lab: str, root: Path, min_tier: Tier | None = None) -> Path:
    """Grade `root/submission` and write `root/results/results.json`; its path.

    Where something is wrong on our side no results are left, which Gradescope shows as a failure
    of the autograder: never as no points.

    Raises:
        GraderError: a fault of ours or of the course's.
    """
    assignment = load(lab)
    source = _source(assignment, root)
    with tempfile.TemporaryDirectory() as folder:
        text = gradescope_text(assignment, source, Path(folder), min_tier)
    target = root / "results" / "results.json"
    target.parent.mkdir(exist_ok=True)
    files.write(target, text)
    return target


def gradescope_text(
    assignment: Assignment, source: Source, out: Path, min_tier: Tier | None
) -> str:
    """Grade one submission into a folder of its own, and what Gradescope reads of it."""
    with (
        batch.open_runner(assignment, min_tier=min_tier) as runner,
        Results(out, assignment, min_tier) as results,
    ):
        list(pipeline.grade_class(assignment, {source.student: (source,)}, results, runner))
    classlist.save(out, assignment)
    return gradescope(read_results(out, assignment.name)[0])


def _source(assignment: Assignment, root: Path) -> Source:
    """The submission, with whose it is and when it was handed in."""
    path = root / "submission_metadata.json"
    try:
        about: Any = json.loads(path.read_text("utf-8-sig"))
        users = [user for user in about.get("users", []) if isinstance(user, dict)]
        created = about.get("created_at")
        when = late.parse(str(created), "UTC") if created else None
    except (OSError, ValueError, AttributeError) as problem:
        raise GraderError(f"{path}: cannot be read: {problem}") from None
    user: Mapping[str, Any] = users[0] if users else {}
    ids = {key: str(user[key]) for key in ("email", "name", "id") if user.get(key)}
    source = replace(of_path(assignment, root / "submission"), ids=ids, handed_in=when)
    return replace(source, student="submission")
