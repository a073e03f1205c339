"""Adds a submission's checks up: `total(assignment, submission, runs, checks) -> Grade`."""

from __future__ import annotations

import math

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
    return Grade(
        assignment=assignment.name,
        student=submission.student,
        points=math.fsum(check.earned for check in checks),
        possible=assignment.possible,
        tier=max((run.tier for run in runs if run.tier), key=TIERS.index, default=None),
        review=any(check.status in ("error", "not_run") for check in checks),
        notices=tuple(notices),
        runs=runs,
        checks=checks,
    )
