"""The sandbox layer by layer: what each one stops gets through when it alone is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import need_full
from grader import bundles, kernel, landlock, sandbox, seccomp
from grader.assignment import load
from grader.records import Case, Run, SandboxError, Submission
from grader.runner import Runner

CASE = Case("layers", "tiny", 30, 30, 30, 0, share=1, hidden=False, seconds=20, memory_mb=256)
PROBES = [("probes.py", "def got(m):\n    return m.got\n")]

#: By layer: what else is left out on both sides of the comparison, and an attack that sets `got` to
#: something true when it gets through.
ATTACKS: dict[str, tuple[tuple[str, ...], str]] = {
    "namespaces": ((), "got = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 20]"),
    "root": ((), "got = os.path.exists(CANARY)"),
    "landlock": (("namespaces",), "got = open(CANARY).read()"),
    "seccomp": ((), "got = bool(socket.socketpair() and socket.socket())"),
    "limits": ((), "got = len(bytearray(700 * 2**20))"),
    "no_new_privs": ((), "got = 'NoNewPrivs:\\t0' in open('/proc/self/status').read()"),
    "capabilities": (("root",), "got = int(STATUS['CapEff'], 16)"),
}
PRELUDE = """
import os, socket
CANARY = {canary!r}
STATUS = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
got = None
try:
    {attack}
except (OSError, MemoryError):
    pass
"""


@pytest.fixture(scope="module")
def bare() -> Iterator[Runner]:
    """A runner whose layers a test may leave out."""
    with Runner({"tiny": bundles.find("tiny")}, "limits") as runner:
        yield runner


def _attack(runner: Runner, attack: str, canary: Path, without: tuple[str, ...]) -> Run:
    script = PRELUDE.format(canary=str(canary), attack=attack).encode()
    runner.without = without
    submission = Submission("mallory", {"attack.py": script}, "attack.py")
    return runner.launch(load("pieces").course, CASE, submission, PROBES)


@pytest.mark.parametrize("layer", sorted(ATTACKS))
def test_each_layer_stops_what_gets_through_without_it(
    layer: str, bare: Runner, tmp_path: Path
) -> None:
    if layer in ("namespaces", "root"):
        need_full(bare)
    also, attack = ATTACKS[layer]
    canary = tmp_path / "canary.txt"
    canary.write_text("canary")
    held = _attack(bare, attack, canary, also)
    loose = _attack(bare, attack, canary, (*also, layer))
    assert not held.values.get("got"), held
    assert loose.values.get("got"), loose


def test_tiers_follow_from_layers(bare: Runner, tmp_path: Path) -> None:
    need_full(bare)
    for without, tier in (
        ((), "full"),
        (("namespaces",), "container"),
        (("root",), "container"),
        (("namespaces", "landlock"), "limits"),
        (("seccomp",), "limits"),
    ):
        assert _attack(bare, "pass", tmp_path, without).tier == tier


def test_a_weaker_tier_than_asked_for_is_refused() -> None:
    assignment = load("pieces", case="public")
    found = {"tiny": bundles.find("tiny")}
    with (
        Runner(found, "full", without=("namespaces",)) as runner,
        pytest.raises(SandboxError, match="confined by container here, less than full"),
    ):
        runner.run_case(assignment, assignment.cases[0], Submission("a", {"a.py": b""}, "a.py"))


def test_filters_for_both_architectures_are_well_formed() -> None:
    for machine in ("x86_64", "aarch64"):
        for own in (True, False):
            code = seccomp.program(machine, 1234, own, own)
            assert len(code) % 8 == 0
            assert len(code) // 8 < 4096  # the kernel's limit on a program's length
            _assert_jumps_stay_inside(code)


def _assert_jumps_stay_inside(code: bytes) -> None:
    count = len(code) // 8
    for line in range(count):
        operation, true, false = code[line * 8], code[line * 8 + 2], code[line * 8 + 3]
        if operation & 0x07 == 0x05:
            assert line + 1 + max(true, false) < count


def test_the_kernel_here_has_what_the_strong_tiers_need() -> None:
    assert landlock.abi() >= 3
    assert kernel.MACHINE in ("x86_64", "aarch64")
    assert sandbox.tier({"limits"}) == "limits"
    assert sandbox.tier(set()) is None


BUSY = b"hoard = bytearray(100 * 2**20)\nwhile True: pass\n"


@pytest.mark.parametrize("without", [(), ("namespaces",)], ids=["full", "container"])
def test_a_run_that_was_killed_tells_what_it_used(without: tuple[str, ...], bare: Runner) -> None:
    if not without:
        need_full(bare)
    bare.without = without
    submission = Submission("busy", {"busy.py": BUSY}, "busy.py")
    run = bare.launch(load("pieces").course, replace(CASE, seconds=3), submission, [])
    assert run.status == "timeout"
    assert 0.1 < run.cpu_seconds < run.seconds + 1
    assert 90 < run.memory_mb < 200


THREADS = """
import threading, torch
got = []
barrier = threading.Barrier(16)

def work():
    barrier.wait()
    try:
        (torch.ones(100_000) + 1).sum()
    except RuntimeError as problem:
        got.append(str(problem))

threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_begin_at_once_find_a_thread_pool(bare: Runner) -> None:
    """Without care about half of such runs met torch's "Invalid thread pool!"."""
    submission = Submission("threads", {"threads.py": THREADS.encode()}, "threads.py")
    bare.without = ()
    runs = [bare.launch(load("pieces").course, CASE, submission, PROBES) for _ in range(12)]
    assert [run.values.get("got") for run in runs] == [[]] * 12
