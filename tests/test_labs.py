"""The labs themselves, by `grader verify`: no file of known grade gets another one."""

from __future__ import annotations

from grader.verify import Verification


def test_all_holds(verified: Verification) -> None:
    assert not verified.problems
    assert verified.failed_by


def test_there_are_enough_files(verified: Verification) -> None:
    kinds = [row.file.kind for row in verified.rows]
    assert kinds.count("right") >= 6
    assert kinds.count("wrong") >= 10


def test_the_stub_is_told_what_is_not_yet_written(verified: Verification) -> None:
    (stub,) = [row for row in verified.rows if row.file.kind == "stub"]
    asked = [check for check in stub.grade.checks if not check.name.startswith(("line", "print"))]
    assert asked
    assert all("not yet written" in str(check.message) for check in asked)


def test_every_run_ends_well(verified: Verification) -> None:
    """Wrong files too: they are to be seen by their values, not by how they end."""
    ends = {
        row.file.name: [run.status for run in row.grade.runs if run.status != "ok"]
        for row in verified.rows
        if row.file.kind != "stub"
    }
    assert not {name: bad for name, bad in ends.items() if bad}
