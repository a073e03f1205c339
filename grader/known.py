"""The reference's runs: `known(assignment, run_case) -> run by case`, made once and kept.

They are made by running the solution through the same sandbox and probes as a submission, and kept
in the user's cache under a digest of all that they depend on. A student's copy has no solution; it
carries the public cases' runs in `assignments/<lab>/expected/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import platformdirs

from grader import store
from grader.assignment import probe_sources
from grader.bundles import Bundle
from grader.codec import WireError
from grader.records import Assignment, AssignmentError, Case, Run, Submission

RunCase = Callable[[Assignment, Case, Submission], Run]
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "pandas")
#: The reference may take this many times what a submission may.
_PATIENCE = 5


def known(
    assignment: Assignment, bundles: Mapping[str, Bundle], run_case: RunCase
) -> dict[str, Run]:
    """The reference's run in each case.

    Raises:
        AssignmentError: the reference does not run, or a student's copy lacks the expected values.
        BundleError: the bundle lacks what the reference needs.
    """
    return {case.name: _known(assignment, case, bundles, run_case) for case in assignment.cases}


def reference(assignment: Assignment) -> Submission:
    """The solution as if it had been handed in."""
    if assignment.solutions is None:
        raise AssignmentError(f"{assignment.name}: the students' side has no solution")
    path = assignment.solutions / assignment.file
    try:
        return Submission("reference", {assignment.file: path.read_bytes()}, assignment.file)
    except OSError as problem:
        raise AssignmentError(f"{path}: the solution cannot be read: {problem.strerror}") from None


def expected_path(assignment: Assignment, case: Case) -> Path:
    """Where a student's copy keeps a public case's expected values, without the ending."""
    return assignment.folder / "expected" / case.name


def _known(
    assignment: Assignment, case: Case, bundles: Mapping[str, Bundle], run_case: RunCase
) -> Run:
    if assignment.solutions is None:
        path = expected_path(assignment, case)
        try:
            return store.load_run(path)
        except (OSError, ValueError, WireError) as problem:
            raise AssignmentError(
                f"{path}.json: the expected values cannot be read ({problem}); get the lab again"
            ) from None
    run = kept_run(assignment, case, bundles, run_case, reference(assignment))
    if run.status != "ok" or run.faults:
        faults = [f"{probe}: {fault}" for probe, fault in run.faults.items()]
        raise AssignmentError(
            f"{assignment.solutions / assignment.file}: the reference does not run in case "
            f"{case.name}: {run.message or faults[0]}"
        )
    return run


def kept_run(
    assignment: Assignment,
    case: Case,
    bundles: Mapping[str, Bundle],
    run_case: RunCase,
    solution: Submission,
) -> Run:
    """A run of one of our own solutions: from the cache, or made now and, if it ended, kept."""
    kept = _cache() / assignment.name / f"{case.name}-{_key(assignment, case, bundles, solution)}"
    try:
        return store.load_run(kept)
    except (OSError, ValueError, WireError):
        pass  # not made yet, or not whole
    run = run_case(assignment, replace(case, seconds=case.seconds * _PATIENCE), solution)
    if run.status == "ok":
        store.save_run(kept, run)
    return run


def _cache() -> Path:
    return platformdirs.user_cache_path("torch-grader") / "known"


def _key(
    assignment: Assignment, case: Case, bundles: Mapping[str, Bundle], solution: Submission
) -> str:
    """A digest of all that the reference's values depend on."""
    total = hashlib.sha256()
    world = {**vars(case), "name": "", "share": 0, "seconds": 0, "memory_mb": 0}
    versions = {name: version(name) for name in _PACKAGES}
    facts = [world, versions, bundles[case.bundle].digest, list(assignment.support)]
    total.update(json.dumps(facts, sort_keys=True).encode())
    for name, text in probe_sources(assignment, case):
        total.update(f"{name}\0{text}\0".encode())
    for data in solution.files.values():
        total.update(data)
    for path in sorted(assignment.course.glob("*.py")):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:24]
