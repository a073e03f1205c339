"""Shared by the tests: a cache of their own, warm processes, the labs' own files graded once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import batch
from grader.assignment import load
from grader.home import labs
from grader.records import Grade, Submission
from grader.runner import Runner
from grader.verify import Verification, verify

ROOT = Path(__file__).resolve().parents[1]
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ  #: one of several processes that test


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the values of a test run, which its workers share, away from the user's cache."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str((base.parent if IS_WORKER else base) / "cache"))
        yield


@pytest.fixture(scope="session")
def runner(_own_cache: None) -> Iterator[Runner]:
    """A runner for the bundle `tiny`."""
    with batch.open_runner(load("pieces")) as opened:
        yield opened


@pytest.fixture(scope="session", params=labs())
def verified(request: pytest.FixtureRequest, runner: Runner) -> Verification:
    """What `grader verify` finds of each lab, made once for the session."""
    return verify(load(request.param), runner)


@pytest.fixture(scope="session")
def graded(verified: Verification) -> dict[str, Grade]:
    """The grades of a lab's own files by name: reference, stub, wrong/<name>, right/<name>."""
    return {row.file.name: row.grade for row in verified.rows}


@pytest.fixture(scope="session")
def shared_assets() -> Path:
    """The folder with the published Banking77 files, named by GRADER_TEST_ASSETS."""
    named = os.environ.get("GRADER_TEST_ASSETS")
    if not named:
        pytest.skip("GRADER_TEST_ASSETS names no folder with Banking77 and BERT's vocabulary")
    return Path(named)


def need_full(runner: Runner) -> None:
    """Skip a test of tier `full` where neither root nor user namespaces are to be had."""
    case = replace(load("pieces", case="public").cases[0], seconds=60)
    runner.without, without = (), runner.without
    run = runner.launch(
        load("pieces").course, case, Submission("empty", {"empty.py": b""}, "empty.py"), []
    )
    runner.without = without
    if run.tier != "full":
        pytest.skip(f"only tier {run.tier} here: `full` needs root or user namespaces")
