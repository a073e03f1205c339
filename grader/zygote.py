"""The warm process: imports everything once, then forks a jailed child for each run.

Started by `warm` as `python -P -m grader.zygote SOCKET_FD COURSE READABLE...` with an allow-listed
environment. It knows the bundle and the course modules, both public, and nothing else. Each message
on the socket, a plan with the descriptors of `Pipes`, makes a run:

    zygote -> jailer -> child

The jailer stays outside, keeps watch, can end everything and says how it ended; the child runs
`worker.main`. The zygote stays single-threaded, since a child forked after a parallel operation
hangs in its first one.
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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from grader import kernel, namespaces, sandbox, watch

_APART = 61  #: users between those of one warm process and of the next
MAX_PLAN = 64 * 1024  #: bytes of a message to the zygote
_TAKEN, _CLOSED = b"+", b"-"  #: what a jailer tells that has stood by


class Pipes(NamedTuple):
    """The descriptors of one run, as they are sent over the socket."""

    job: int  #: to the child: the submission and the probes
    leash: int  #: to the jailer: when it closes, everything ends
    result: int  #: from the child: frames of values
    output: int  #: from the child: its standard output
    errors: int  #: from the child: its standard error
    facts: int  #: from the jailer, and the child before it runs anything: JSON lines


def main(control: socket.socket, course: Path, readable: tuple[Path, ...]) -> None:
    """Warm up, say so, and fork on request until the socket closes.

    One jailer always stands by, so that a run need not wait for the fork of it.
    """
    sys.path.insert(0, str(course))
    warm_up()
    namespaces.view(readable)  # for all runs to come
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # jailers are not waited for
    control.sendall(b"ready")
    taken, tell = os.pipe()
    first = os.getpid() * _APART  # of two warm processes each has other users for its runs
    for run in range(first, sys.maxsize):
        if len(list(Path("/proc/self/task").iterdir())) != 1:
            raise RuntimeError("the zygote has threads: a child would hang")
        jailer = kernel.fork()
        if jailer == 0:
            os.close(taken)
            _stand_by(control, tell, run)
        with _handle(jailer) as handle:
            ready, _, _ = select.select([taken, handle], [], [])
        if taken in ready and os.read(taken, 1) == _CLOSED:
            return


def _stand_by(control: socket.socket, tell: int, run: int) -> NoReturn:
    """Be a jailer: take the next plan, and let another one stand by."""
    message, descriptors, _, _ = socket.recv_fds(control, MAX_PLAN, len(Pipes._fields))
    os.write(tell, _TAKEN if message else _CLOSED)
    os.close(tell)
    control.close()
    if not message:
        os._exit(0)
    pipes = Pipes(*descriptors)
    _never_return(pipes, lambda: _jail(pipes, sandbox.Plan.from_json(json.loads(message)), run))


@contextlib.contextmanager
def _handle(pid: int) -> Iterator[int]:
    """A descriptor that can be read from when a child has ended."""
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def warm_up() -> None:
    """Import and use once whatever a submission is likely to need, and make forks cheap."""
    import torch

    torch.set_num_threads(1)  # before any operation
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    from transformers import AutoModel, BertConfig

    import course_bundle  # the course's, as is the next
    import encoder  # noqa: F401
    from grader import worker

    small = BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    model = AutoModel.from_config(small)
    with torch.no_grad():
        model(input_ids=torch.zeros(1, 2, dtype=torch.long))
    course_bundle.use({"train": 1, "val": 1, "test": 1}, 0)
    worker.reseed()
    gc.collect()
    gc.freeze()  # a collection in a child would touch, and so copy, every shared page
    if sys.platform == "linux":
        kernel.use_large_pages()
    sandbox.mapped()


def _never_return(pipes: Pipes, step: Callable[[], Any]) -> NoReturn:
    """Do a forked process's work and end it; a fault of ours is told on the run's own pipe."""
    try:
        step()
    except BaseException:  # noqa: BLE001 - nothing may run on in the zygote's code
        with contextlib.suppress(OSError):
            _tell(pipes.facts, {"fault": traceback.format_exc()[-2000:]})
        os._exit(70)
    os._exit(0)


def _jail(pipes: Pipes, plan: sandbox.Plan, run: int) -> None:
    """Fork the child into its own world and keep watch until all of that has ended."""
    os.setsid()
    started, resident = time.monotonic(), _resident_kb()
    layers, init = sandbox.leave(plan)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = kernel.fork()
    if child == 0:
        os.close(pipes.leash)
        _never_return(pipes, partial(_become_worker, pipes, plan, layers, run))
    for descriptor in (pipes.job, pipes.result, pipes.output, pipes.errors):
        os.close(descriptor)
    _tell(pipes.facts, {"jailer": os.getpid()})
    end = watch.watch(child, init, pipes.leash, plan)
    facts = {
        "exit": end.exit,
        "stopped": end.stopped,
        "seconds": time.monotonic() - started,
        "cpu_seconds": end.cpu_seconds,
        "memory_mb": max(0, end.peak_kb - resident) / 1024,
    }
    _tell(pipes.facts, facts)
    os.close(pipes.facts)  # heard before our memory is given back, which takes milliseconds


def _become_worker(pipes: Pipes, plan: sandbox.Plan, layers: set[str], run: int) -> None:
    """The child: be confined, then run the submission."""
    from grader import worker

    os.setsid()
    layers = sandbox.confine(plan, layers, run)
    _tell(pipes.facts, {"layers": sorted(layers)})
    os.close(pipes.facts)
    worker.main(pipes.job, pipes.result, pipes.output, pipes.errors)


def _resident_kb() -> int:
    """Kilobytes in memory of this process, which a fork's peak counts in."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def _tell(facts: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(facts, (json.dumps(message) + "\n").encode("ascii"))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]), tuple(map(Path, sys.argv[3:])))
