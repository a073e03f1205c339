"""Listens to one run: feeds the job, reads four pipes with caps, keeps the deadlines.

`listen(pipes, job, seconds) -> Heard`. Values come from the child and are believed to be values and
nothing more; how and when the child ended comes from the jailer alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from typing import Literal

from grader import codec
from grader.heard import MAX_OUTPUT, Heard, Text
from grader.zygote import Pipes

#: All frames of one run together, in bytes.
MAX_VALUES = 256 * 1024 * 1024
#: How long the end of a killed run is waited for, in seconds.
_GRACE_SECONDS = 5.0
_CHUNK = 256 * 1024


def listen(pipes: Pipes, job: bytes, seconds: float) -> Heard:
    """Send the job and hear the run out; never longer than three times `seconds` and a grace.

    Args:
        pipes: our ends; all are closed afterwards.
        job: the frame that the child waits for.
        seconds: wall clock for the script, and again for each probe.
    """
    ear = _Ear(pipes, job, seconds)
    try:
        return ear.hear()
    finally:
        ear.close()


class _Ear:
    """The loop over one run's pipes."""

    def __init__(self, pipes: Pipes, job: bytes, seconds: float) -> None:
        self._open = pipes._asdict()
        self._job = memoryview(job)
        self._step = seconds
        self._frames = codec.FrameReader()
        self._received = 0
        self._texts = {"output": Text(), "errors": Text()}
        self._facts = b""
        self.heard = Heard()
        self._selector = selectors.DefaultSelector()
        for name in ("job", "result", "output", "errors", "facts"):
            os.set_blocking(self._open[name], False)
            event = selectors.EVENT_WRITE if name == "job" else selectors.EVENT_READ
            self._selector.register(self._open[name], event, name)
        now = time.monotonic()
        self._last = now + 3 * seconds + 1
        self._deadline = now + seconds

    def hear(self) -> Heard:
        """Serve the pipes until the jailer has told the end, or the run had to be killed."""
        while "facts" in self._open:
            wait = min(self._deadline, self._last) - time.monotonic()
            if wait <= 0:
                if self.heard.ended_by is None:
                    self._stop("timeout")
                    continue
                self._kill_jailer()
                break
            for key, _ in self._selector.select(wait):
                self._serve(key.data)
        self._drain()
        self.heard.output, self.heard.errors = map(str, self._texts.values())
        return self.heard

    def _serve(self, name: str) -> None:
        if name not in self._open:
            return
        if name == "job":
            self._write_job()
            return
        try:
            data = os.read(self._open[name], _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close(name)
        elif name == "result":
            self._read_values(data)
        elif name == "facts":
            self._read_facts(data)
        else:
            self._texts[name].add(data)
            if sum(text.total for text in self._texts.values()) > MAX_OUTPUT:
                self._stop("output")

    def _write_job(self) -> None:
        try:
            self._job = self._job[os.write(self._open["job"], self._job) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._job = memoryview(b"")
        if not self._job:
            self._close("job")

    def _read_values(self, data: bytes) -> None:
        self._received += len(data)
        try:
            if self._received > MAX_VALUES:
                raise codec.WireError(f"more than {MAX_VALUES // 1024**2} MB of values")
            for header, payload in self._frames.feed(data):
                self.heard.take(header, payload)
                if self.heard.ended_by is None:
                    self._deadline = time.monotonic() + self._step + 1
        except codec.WireError as problem:
            self.heard.wire_problem = str(problem)
            self._close("result")
            self._stop("wire")

    def _read_facts(self, data: bytes) -> None:
        self._facts += data
        *lines, self._facts = self._facts.split(b"\n")
        for line in lines:
            for name, fact in json.loads(line).items():
                setattr(self.heard, name, fact)

    def _stop(self, why: Literal["timeout", "output", "wire"]) -> None:
        """Let go of the leash: the jailer kills everything. The first reason stands."""
        if self.heard.ended_by is None:
            self.heard.ended_by = why
            self._close("leash")
            self._deadline = self._last = time.monotonic() + _GRACE_SECONDS

    def _kill_jailer(self) -> None:
        """The jailer itself does not answer: kill its session, as the last resort."""
        if self.heard.jailer is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.heard.jailer, signal.SIGKILL)

    def _drain(self) -> None:
        """Take what the pipes still hold; everything that wrote to them has ended."""
        for name in ("result", "output", "errors"):
            for _ in range(64):  # a pipe holds less; a survivor that still writes must not hold us
                if name not in self._open or not self._selector.select(0):
                    break
                self._serve(name)

    def _close(self, name: str) -> None:
        descriptor = self._open.pop(name)
        with contextlib.suppress(KeyError):
            self._selector.unregister(descriptor)
        os.close(descriptor)

    def close(self) -> None:
        """Close whatever is still open."""
        for name in list(self._open):
            self._close(name)
        self._selector.close()
