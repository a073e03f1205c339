"""Runs submissions on a Dask cluster: `with cluster.connect(address, ...) as means: ...`.

Each Dask worker holds warm processes of its own and shares no folder with us: what a run needs of
the lab travels with it, values come back. Checks stay here. A worker that is lost has its runs made
elsewhere; a submission that loses two workers is `crashed`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import ipaddress
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import distributed
from distributed.scheduler import KilledWorker

from grader import bundles, keys
from grader.assignment import run_files
from grader.batch import Means
from grader.records import Assignment, Case, GraderError, Run, SandboxError, Submission, Tier
from grader.runner import Runner
from grader.workspace import Place

#: How many workers a run may lose but one.
_ALLOWED_FAILURES = 1


@dataclass(frozen=True)
class Site:
    """What a worker needs to know to run submissions as we would."""

    bundles: tuple[str, ...]  #: names, found by each worker for itself
    bundle_dir: str | None  #: where the files of banking77 lie on the workers
    min_tier: Tier  #: how strongly submissions must be confined there


@contextlib.contextmanager
def connect(
    address: str, assignment: Assignment, runner: Runner, bundle_dir: Path | None
) -> Iterator[Means]:
    """Connect to a scheduler.

    Args:
        address: such as tls://host:8786; tcp only on this machine. Certificates are named in Dask's
            own configuration, `distributed.comm.tls`.
        assignment: what will be graded.
        runner: ours, with the bundles that the workers must have too.
        bundle_dir: where the files of banking77 lie, here and there.

    Yields:
        How runs are made there, as many at a time as there are threads.

    Raises:
        GraderError: the connection would not be encrypted, nobody answers, or a worker has other
            packages or data than we have.
    """
    _check_address(address)
    named = str(bundle_dir) if bundle_dir else None
    site = Site(tuple(runner.bundles), named, runner.min_tier)
    files = run_files(assignment)
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as problem:
        raise GraderError(f"--scheduler {address}: no scheduler answers: {problem}") from None
    with client:
        threads = client.nthreads()
        if not threads:
            raise GraderError(f"--scheduler {address}: it has no workers; start some")
        ours = {name: bundle.digest for name, bundle in runner.bundles.items()}
        for worker, theirs in client.run(_facts, site).items():
            _compare(worker, theirs, {"packages": keys.packages(), "bundles": ours})
        client.run_on_scheduler(_allow_failures)

        sent = replace(assignment, secret=None)

        def submit(_: Assignment, case: Case, submission: Submission) -> Future[Run]:
            started = client.submit(run_there, sent, files, case, submission, site, pure=False)
            return as_run(started, case)

        yield Means(sum(threads.values()), submit=submit)


def _check_address(address: str) -> None:
    """Only what stays on this machine may travel in the clear."""
    parts = urlsplit(address)
    if parts.scheme == "tls":
        return
    host = parts.hostname or ""
    with contextlib.suppress(ValueError):
        if host == "localhost" or ipaddress.ip_address(host).is_loopback:
            return
    raise GraderError(
        f"--scheduler {address}: submissions and values would travel in the clear; use tls://"
    )


def _compare(worker: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    if isinstance(theirs, dict) and "problem" in theirs:
        raise GraderError(f"worker {worker}: {theirs['problem']}")
    for group, expected in ours.items():
        for name, value in expected.items():
            found = theirs[group].get(name)
            if found != value:
                raise GraderError(
                    f"worker {worker}: {name} is {found} there and {value} here; install the same"
                )


def _allow_failures(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = _ALLOWED_FAILURES


def as_run(started: distributed.Future[Run], case: Case) -> Future[Run]:
    """A Dask future as one of this process, with the loss of two workers as a crash."""
    ours: Future[Run] = Future()

    def finish(ended: distributed.Future[Run]) -> None:
        if ended.cancelled():
            ours.set_exception(SandboxError("the scheduler is gone"))
            return
        problem = ended.exception()
        if isinstance(problem, KilledWorker):
            message = "stopped: the machine that ran it was lost, twice"
            ours.set_result(Run(case.name, "crashed", message))
        elif problem is not None:
            ours.set_exception(problem)
        else:
            ours.set_result(ended.result())

    ours.set_running_or_notify_cancel()
    started.add_done_callback(finish)
    return ours


# On the workers -----------------------------------------------------------------------------------


def run_there(
    assignment: Assignment,
    files: dict[str, bytes],
    case: Case,
    submission: Submission,
    site: Site,
) -> Run:
    """Run one submission on the worker that this is called on."""
    folder = _laid_out(tuple(sorted(files.items())))
    here = replace(
        assignment,
        folder=folder / "assignments" / assignment.name,
        course=folder / "assignments" / "course",
        solutions=folder / "solutions" / assignment.name,
    )
    return _runner(site).run_case(here, case, submission)


def _facts(site: Site) -> dict[str, Any]:
    """A worker's packages and bundles, to be compared with ours."""
    try:
        digests = {name: bundle.digest for name, bundle in _runner(site).bundles.items()}
    except GraderError as problem:
        return {"problem": str(problem)}
    return {"packages": keys.packages(), "bundles": digests}


@functools.cache
def _runner(site: Site) -> Runner:
    """The warm processes of this worker, as long as it lives."""
    where = Path(site.bundle_dir) if site.bundle_dir else None
    runner = Runner({name: bundles.find(name, where) for name in site.bundles}, site.min_tier)
    atexit.register(runner.__exit__, None, None, None)
    return runner


@functools.cache
def _laid_out(files: tuple[tuple[str, bytes], ...]) -> Path:
    """A lab's files for running, in a folder of this worker's."""
    place = Place()
    atexit.register(place.close)
    for name, data in files:
        path = place.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place.folder
