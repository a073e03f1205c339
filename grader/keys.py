"""What a run and a grade depend on, as digests: where one is the same, nothing is done again.

A run depends on the submission's files and on its world: the case's rows, the probes, the course
modules, the bundle and the packages. Limits are no part of it: they make no other value, and what
they ended is looked at again where they grow. A grade depends on runs, on the reference's and on
the checks.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import grader
from grader.assignment import check_files, probe_sources
from grader.bundles import Bundle
from grader.home import templates
from grader.records import Assignment, Case, Run, Submission

_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "pandas")


def of_submission(submission: Submission) -> str:
    """A digest of the files that run."""
    return _digest([submission.entry, sorted(submission.files.items())])


def of_world(assignment: Assignment, case: Case, bundle: Bundle) -> str:
    """A digest of all but the submission's files that a run in a case depends on."""
    rows = [bundle.name, case.train, case.val, case.test, case.seed]
    course = [(path.name, path.read_bytes()) for path in sorted(assignment.course.glob("*.py"))]
    probes = probe_sources(assignment, case)
    return _digest([rows, probes, course, assignment.support, bundle.digest, packages()])


def of_checks(assignment: Assignment, known: Mapping[str, Run]) -> str:
    """A digest of all but a submission's runs that its grade depends on."""
    folders = templates(assignment.templates)
    pages = [path for folder in folders for path in sorted(folder.glob("*")) if path.is_file()]
    wrong = sorted(assignment.solutions.glob("wrong/*.py")) if assignment.solutions else []
    paths = (*check_files(assignment), *wrong, *pages)
    files = [(path.name, path.read_bytes()) for path in paths]
    reference = [(name, run.submission, run.world) for name, run in known.items()]
    shares = [(case.name, case.share, case.hidden) for case in assignment.cases]
    parts = [vars(part) for part in assignment.parts]
    bands = sorted(assignment.bands.items())
    late = assignment.late and repr(replace(assignment.late, extensions={}))
    extensions = sorted((assignment.late.extensions if assignment.late else {}).items())
    due = [late, repr(extensions)]
    shown = [sorted(assignment.disclosure.items()), assignment.language]
    varied = [assignment.secret, assignment.secret and _solution(assignment)]
    rest = [bands, due, files, reference, shown, varied, _own_sources()]
    return _digest([assignment.name, parts, shares, *rest])


def _solution(assignment: Assignment) -> bytes | None:
    """The solution, whose values in a student's own cases are not made yet."""
    if assignment.solutions is None:
        return None
    return (assignment.solutions / assignment.file).read_bytes()


def of_grade(submission: Submission, worlds: Mapping[str, str], checks: str) -> str:
    """A digest of all that a submission's grade depends on."""
    when = submission.handed_in and submission.handed_in.isoformat()
    told = [submission.problem, submission.notices, when, sorted(submission.ids.items())]
    return _digest([of_submission(submission), sorted(worlds.items()), checks, told])


@functools.cache
def packages() -> dict[str, str]:
    """The versions that values depend on, by package."""
    own = {"python": platform.python_version(), "machine": platform.machine()}
    return own | {"grader": grader.__version__} | {name: version(name) for name in _PACKAGES}


@functools.cache
def _own_sources() -> str:
    """The package's own code, so that a mended check of ours is not taken for an old one."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return _digest([(path.name, path.read_bytes()) for path in files])


def _digest(facts: object) -> str:
    """SHA-256 of plain facts, the first 32 hexadecimal digits; bytes stand by their own digest."""
    text = json.dumps(facts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    raise TypeError(f"a digest cannot be made of {type(value).__name__}")
