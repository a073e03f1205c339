"""Shared by the tests: a cache of their own, warm processes, the labs' own files graded once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import batch
from grader.assignment import load
from grader.home import labs
from grader.known import kept_run, known
from grader.mistakes import wrong
from grader.records import Grade, Submission
from grader.runner import Runner

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the reference's values of a test run away from the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def runner(_own_cache: None) -> Iterator[Runner]:
    """A runner for the bundle `tiny`."""
    with batch.open_runner(load("pieces")) as opened:
        yield opened


@pytest.fixture(scope="session")
def graded_files(runner: Runner) -> Callable[[str], dict[str, Grade]]:
    """Grades a lab's own files, once for the session.

    By name: reference, stub, wrong/<name>, right/<name>. Those in wrong/ are run as the known
    mistakes that they are, and not again as submissions.
    """

    @functools.cache
    def graded(lab: str) -> dict[str, Grade]:
        assignment = load(lab)
        expected = known(assignment, runner.bundles, runner.run_case)
        mistakes = wrong(assignment, expected, runner.bundles, runner.run_case, batch.processors())
        mistakes.differences()
        solutions = ROOT / "solutions" / lab
        paths = {
            "reference": solutions / assignment.file,
            "stub": ROOT / "assignments" / lab / assignment.file,
            **{f"{path.parent.name}/{path.stem}": path for path in solutions.glob("*/*.py")},
        }
        with ThreadPoolExecutor(batch.processors()) as pool:
            runs = {}
            for name, path in sorted(paths.items()):
                one = Submission(name, {assignment.file: path.read_bytes()}, assignment.file)
                runs[name] = (
                    one,
                    [
                        pool.submit(
                            kept_run, assignment, case, runner.bundles, runner.run_case, one
                        )
                        if name.startswith("wrong/")
                        else pool.submit(runner.run_case, assignment, case, one)
                        for case in assignment.cases
                    ],
                )
            return {
                name: batch.judge(
                    assignment, expected, one, tuple(run.result() for run in of_cases), mistakes
                )[0]
                for name, (one, of_cases) in runs.items()
            }

    return graded


@pytest.fixture(scope="session", params=labs())
def graded(
    request: pytest.FixtureRequest, graded_files: Callable[[str], dict[str, Grade]]
) -> dict[str, Grade]:
    """The grades of each lab's own files."""
    return graded_files(request.param)


@pytest.fixture(scope="session")
def shared_assets() -> Path:
    """The folder with the published Banking77 files, named by GRADER_TEST_ASSETS."""
    named = os.environ.get("GRADER_TEST_ASSETS")
    if not named:
        pytest.skip("GRADER_TEST_ASSETS names no folder with Banking77 and BERT's vocabulary")
    return Path(named)
