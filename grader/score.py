"""Adds a submission's checks up: `total(assignment, submission, runs, checks) -> Grade`."""

from __future__ import annotations

import math

from grader import keys, late
from grader.records import TIERS, Assignment, Check, Grade, Run, Submission


def total(
    assignment: Assignment,
    submission: Submission,
    runs: tuple[Run, ...],
    checks: tuple[Check, ...],
) -> Grade:
    """The grade. A check that went wrong on our side asks for a person, whatever the sum."""
    notices = [*submission.notices]
    notices += [notice for run in runs for notice in run.notices if notice not in notices]
    earned = math.fsum(check.earned for check in checks)
    hours, penalty = late.of_submission(assignment.late, submission, earned, assignment.possible)
    if penalty:
        notices.append(f"handed in {hours:.4g} hours late: {penalty:.4g} points are taken off")
    return Grade(
        assignment=assignment.name,
        student=submission.student,
        points=earned - penalty,
        possible=assignment.possible,
        tier=max((run.tier for run in runs if run.tier), key=TIERS.index, default=None),
        review=any(check.status in ("error", "not_run") for check in checks),
        notices=tuple(notices),
        runs=runs,
        checks=checks,
        late=hours,
        penalty=penalty,
        handed_in=submission.handed_in,
        ids=submission.ids,
        digest=keys.of_submission(submission),
    )
