"""On a Dask cluster: the same grades over TLS, with a worker killed midway; bounds on retries."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import distributed
import pytest
from distributed.security import Security

from conftest import ROOT
from grader import cluster
from grader.assignment import load
from grader.records import GraderError
from grader.runner import Runner

SAMPLES = ("ada", "ben", "cleo", "dan", "eva")


@dataclass
class Cluster:
    """A scheduler and its workers, as processes of their own."""

    address: str
    environment: dict[str, str]
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers on loopback, over TLS."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, **_certificates(folder)}
    address = f"tls://127.0.0.1:{_free_port()}"
    processes = [_start(environment, "scheduler", "--no-dashboard", "--host", address)]
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
    processes += [_start(environment, "worker", address, *options) for _ in range(2)]
    security = Security(**{name: str(folder / name) for name in _NAMES}, require_encryption=True)
    try:
        with distributed.Client(address, security=security, timeout="60s") as client:
            client.wait_for_workers(2, timeout=60)
        yield Cluster(address, environment, processes[0], processes[1:])
    finally:
        for process in processes:
            process.kill()
            process.wait()


_NAMES = ("tls_ca_file", "tls_client_cert", "tls_client_key")


def _certificates(folder: Path) -> dict[str, str]:
    """Dask's configuration, as environment variables, for certificates made for this test."""
    made = Security.temporary()
    parts = {}
    for role in ("scheduler", "worker", "client"):
        for part in ("cert", "key"):
            name = f"tls_{role}_{part}"
            (folder / name).write_text(getattr(made, name), "utf-8")
            parts[f"{role}__{part}"] = str(folder / name)
    (folder / "tls_ca_file").write_text(made.tls_ca_file, "utf-8")
    parts["ca_file"] = str(folder / "tls_ca_file")
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    return {f"{prefix}{name.upper()}": path for name, path in parts.items()}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(environment: dict[str, str], kind: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _grade(started: Cluster, folder: Path, out: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "grader", "grade", "pieces", str(folder), "--out", str(out), *words],
        cwd=ROOT,
        env=started.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _grades(printed: str) -> dict[str, object]:
    return {grade["student"]: grade["checks"] for grade in json.loads(printed)["grades"]}


def test_the_same_grades_though_a_worker_is_killed_midway(started: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(10):
        sample = ROOT / "demo" / "pieces" / SAMPLES[number % 5] / "pieces.py"
        (folder / f"s{number:02}").mkdir(parents=True)
        shutil.copyfile(sample, folder / f"s{number:02}" / "pieces.py")
        with (folder / f"s{number:02}" / "pieces.py").open("a") as stream:
            stream.write(f"\n# {number}\n")
    there = _grade(started, folder, tmp_path / "there", "--scheduler", started.address, "--json")
    journal = tmp_path / "there" / "pieces" / "journal.jsonl"
    while there.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
        time.sleep(0.05)
    started.workers[0].send_signal(signal.SIGKILL)
    printed, told = there.communicate(timeout=300)
    assert there.returncode == 0, told
    here, told = _grade(started, folder, tmp_path / "here", "--json").communicate(timeout=300)
    assert _grades(printed) == _grades(here), told
    assert len(_grades(here)) == 10


def test_what_loses_two_workers_is_crashed_and_not_tried_for_ever() -> None:
    case = load("pieces").cases[0]
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as local,
        distributed.Client(local) as client,
    ):
        client.run_on_scheduler(cluster._allow_failures)
        run = cluster.as_run(client.submit(os._exit, 1, pure=False), case).result(timeout=120)
    assert (run.case, run.status) == ("public", "crashed")
    assert "twice" in str(run.message)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://head:8786"])
def test_nothing_travels_in_the_clear(address: str, runner: Runner) -> None:
    with (
        pytest.raises(GraderError, match="in the clear"),
        cluster.connect(address, load("pieces"), runner, None),
    ):
        pass


def test_a_scheduler_that_does_not_answer(runner: Runner) -> None:
    address = f"tcp://127.0.0.1:{_free_port()}"
    with (
        pytest.raises(GraderError, match="no scheduler answers"),
        cluster.connect(address, load("pieces"), runner, None),
    ):
        pass


def test_other_packages_on_a_worker_are_refused() -> None:
    ours = {"packages": {"torch": "2.13.0"}, "bundles": {"tiny": "abc"}}
    cluster._compare("w1", ours, ours)
    for theirs, sentence in (
        ({"packages": {"torch": "2.12.0"}, "bundles": {"tiny": "abc"}}, "torch is 2.12.0 there"),
        ({"packages": {"torch": "2.13.0"}, "bundles": {}}, "tiny is None there"),
        ({"problem": "bundle tiny is altered"}, "w1: bundle tiny is altered"),
    ):
        with pytest.raises(GraderError, match=sentence):
            cluster._compare("w1", theirs, ours)
