"""The reference's runs: `known(assignment, run_case) -> run by case`, made once and kept.

They are made by running the solution through the same sandbox and probes as a submission, and kept
in the user's cache under a digest of all that they depend on. A student's copy has no solution; it
carries the public cases' runs in `assignments/<lab>/expected/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import platformdirs

from grader import keys, store
from grader.bundles import Bundle
from grader.codec import WireError
from grader.records import Assignment, AssignmentError, Case, Run, Submission

RunCase = Callable[[Assignment, Case, Submission], Run]
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
    return {case.name: known_in(assignment, case, bundles, run_case) for case in assignment.cases}


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


def known_in(
    assignment: Assignment, case: Case, bundles: Mapping[str, Bundle], run_case: RunCase
) -> Run:
    """The reference's run in one case, see `known`."""
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
    world = keys.of_world(assignment, case, bundles[case.bundle])
    digest = keys.of_submission(solution)
    kept = cache() / assignment.name / f"{case.name}-{world[:16]}-{digest[:16]}"
    try:
        return store.load_run(kept)
    except (OSError, ValueError, WireError):
        pass  # not made yet, or not whole
    patient = replace(case, seconds=case.seconds * _PATIENCE)
    run = replace(run_case(assignment, patient, solution), submission=digest, world=world)
    if run.status == "ok":
        store.save_run(kept, run)
    return run


def cache() -> Path:
    """Where runs of our own solutions are kept."""
    return platformdirs.user_cache_path("torch-grader") / "known"
