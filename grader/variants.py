"""A variant of the hidden cases for each student: `varied(assignment, student) -> assignment`.

Where a lab says `seed_by_student = true`, each student's hidden cases draw other rows, by a seed
made from the lab's secret and the student's name: what a neighbour was asked, or got, is of no use.
The public cases are the same for all, since everybody's copy holds their expected values.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

from grader.records import Assignment, Case


def varied(assignment: Assignment, student: str) -> Assignment:
    """An assignment with the cases that one student gets."""
    if assignment.secret is None:
        return assignment
    cases = (_varied(assignment.secret, case, student) for case in assignment.cases)
    return replace(assignment, cases=tuple(cases))


def steady(assignment: Assignment) -> Assignment:
    """An assignment with the cases that are the same for all."""
    cases = (case for case in assignment.cases if not is_varied(assignment, case))
    return replace(assignment, cases=tuple(cases))


def is_varied(assignment: Assignment, case: Case) -> bool:
    """Whether a case draws other rows for each student."""
    return case.hidden and assignment.secret is not None


def _varied(secret: str, case: Case, student: str) -> Case:
    """HMAC-SHA256 keeps the secret: no number of seeds tells another's (RFC 2104)."""
    if not case.hidden:
        return case
    words = f"{case.name}\n{student}".encode()
    digest = hmac.new(secret.encode(), words, hashlib.sha256).digest()
    return replace(case, seed=int.from_bytes(digest[:4], "big"))
