"""The warm process: imports everything once, then forks a jailed child for each run.

Started by `runner` as `python -P -m grader.zygote SOCKET_FD` with an allow-listed environment. It
knows the bundle and the course modules, both public, and nothing else. For each message on the
socket, which carries the descriptors of `Pipes`, it forks:

    zygote -> jailer -> child

The jailer owns the namespaces and reports exit facts; the child runs `worker.main`. The zygote
stays single-threaded, since a child forked after a parallel operation hangs in its first one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple, NoReturn


class Pipes(NamedTuple):
    """The descriptors of one run, as they are sent over the socket."""

    job: int  #: to the child: the submission and the probes
    leash: int  #: to the jailer: when it closes, everything ends
    result: int  #: from the child: frames of values
    output: int  #: from the child: its standard output
    errors: int  #: from the child: its standard error
    facts: int  #: from the jailer: JSON lines about start and end


def main(control: socket.socket, course: Path) -> None:
    """Warm up, say so, and fork on request until the socket closes."""
    sys.path.insert(0, str(course))
    _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # jailers are not waited for
    gc.collect()
    gc.freeze()  # a collection in a child would touch, and so copy, every shared page
    control.sendall(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, len(Pipes._fields))
        if not message:
            return
        if len(list(Path("/proc/self/task").iterdir())) != 1:
            raise RuntimeError("the zygote has threads: a child would hang")
        pipes = Pipes(*descriptors)
        if os.fork() == 0:
            control.close()
            _jail(pipes)
        for descriptor in pipes:
            os.close(descriptor)


def _warm_up() -> None:
    """Import and use once whatever a submission is likely to need."""
    import torch

    torch.set_num_threads(1)  # before any operation
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    from transformers import AutoModel, BertConfig

    import encoder  # noqa: F401 - the course's, warmed for the children
    import grader.worker  # noqa: F401

    small = BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    model = AutoModel.from_config(small)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        model(input_ids=torch.zeros(1, 2, dtype=torch.long))


def _jail(pipes: Pipes) -> NoReturn:
    """Fork the child into its own world, watch the leash, report how it ended. Never returns."""
    from grader import sandbox, worker

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    started = time.monotonic()
    isolated = sandbox.enter_namespaces()
    sandbox.adopt_orphans()
    resident = _resident_kb()
    child = os.fork()
    if child == 0:
        os.close(pipes.leash)
        os.close(pipes.facts)
        try:
            worker.main(pipes.job, pipes.result, pipes.output, pipes.errors, isolated=isolated)
        finally:  # a fault of ours must not run on in the zygote's code
            traceback.print_exc()
            os._exit(70)
    for descriptor in (pipes.job, pipes.result, pipes.output, pipes.errors):
        os.close(descriptor)
    _tell(pipes.facts, {"jailer": os.getpid()})
    status, usage = _wait(child, pipes.leash)
    _end_leftovers(child)
    facts = {
        "exit": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "memory_mb": max(0, usage.ru_maxrss - resident) / 1024,
    }
    _tell(pipes.facts, facts)
    os._exit(0)


def _wait(child: int, leash: int) -> tuple[int, resource.struct_rusage]:
    """Wait for the child; when the leash closes, kill it first."""
    handle = os.pidfd_open(child)
    ready, _, _ = select.select([handle, leash], [], [])
    if handle not in ready:
        _kill(child)
    _, status, usage = os.wait4(child, 0)
    return status, usage


def _kill(child: int) -> None:
    """Kill the child and its group; in a pid namespace its end is the end of all in it."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _end_leftovers(child: int) -> None:
    """Kill what the child left behind, where no namespace did so already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    tasks = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    with contextlib.suppress(OSError):
        while orphans := tasks.read_text().split():
            for orphan in orphans:
                _kill(int(orphan))
            os.wait()


def _resident_kb() -> int:
    """Kilobytes in memory of this process, which a fork's peak counts in."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def _tell(facts: int, message: dict[str, float]) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(facts, (json.dumps(message) + "\n").encode("ascii"))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
