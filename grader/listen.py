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
from dataclasses import dataclass, field
from typing import Any, Literal

from grader import codec
from grader.records import RunStatus, Value
from grader.sandbox import MAX_PROCESSES
from grader.zygote import Pipes

#: Output: what is kept of its head and of its tail, and where the run is stopped, in bytes.
KEEP_BYTES = 64 * 1024
MAX_OUTPUT = 4 * 1024 * 1024
#: All frames of one run together, in bytes, and how many they may be.
MAX_VALUES = 256 * 1024 * 1024
MAX_FRAMES = 2_000
_KINDS = ("start", "script", "value", "fault", "end")
#: How long the end of a killed run is waited for, in seconds.
_GRACE_SECONDS = 5.0
_CHUNK = 256 * 1024


#: What the jailer's reasons mean to a student.
_STOPPED: dict[str | None, tuple[RunStatus, str]] = {
    "memory": ("memory", "stopped: it needed more memory than a run may use"),
    "processes": ("blocked", f"stopped: it started more than {MAX_PROCESSES} processes"),
    "disk": ("blocked", "stopped: it wrote more files than a run may"),
}


class _Text:
    """A stream's head and tail, and how much there was between them."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = KEEP_BYTES - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-KEEP_BYTES:]

    def __str__(self) -> str:
        cut = self.total - len(self._head) - len(self._tail)
        gap = f"\n… {cut:,} bytes cut …\n".encode() if cut else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace")


@dataclass
class Heard:
    """All that one run let us hear."""

    started: bool = False  #: the submission was about to be executed
    script: dict[str, Any] | None = None  #: how the script ended, in the child's words
    finished: bool = False  #: every probe was asked
    ended_by: Literal["timeout", "output", "wire"] | None = None  #: why we killed it
    values: dict[str, Value] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    probe_status: RunStatus | None = None  #: the worst that a probe met: timeout or memory
    wire_problem: str = ""
    frames: int = 0
    output: str = ""
    errors: str = ""
    exit: int | None = None  #: exit status or minus the signal, from the jailer
    jailer: int | None = None
    layers: list[str] = field(default_factory=list)  #: what confined it, from before it ran
    stopped: str | None = None  #: why the jailer stopped it
    fault: str = ""  #: a fault of ours on the way
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mb: float = 0.0

    def take(self, header: dict[str, Any], payload: bytes) -> None:
        """Take one frame; the first answer to a probe stands.

        Raises:
            WireError: the frame is of no kind that the child's side sends, or one too many.
        """
        kind, probe = header.get("kind"), header.get("probe")
        self.frames += 1
        if kind not in _KINDS or self.frames > MAX_FRAMES:
            raise codec.WireError("a frame of no known kind, or too many of them")
        if kind == "start":
            self.started = True
        elif kind == "script" and self.script is None:
            self.script = header
        elif kind == "end":
            self.finished = True
        elif not (isinstance(probe, str) and probe.isidentifier()):
            raise codec.WireError("an answer to what can be no probe")
        elif probe not in self.values and probe not in self.faults:
            if kind == "value":
                self.values[probe] = codec.decode(header.get("value"), payload)
            elif kind == "fault":
                self.faults[probe] = _message(header)
                if header.get("status") in ("timeout", "memory"):
                    self.probe_status = header["status"]

    def verdict(self, seconds: float) -> tuple[RunStatus, str | None]:
        """The run's one status and its reason."""
        if not self.finished and (ended := self._ended_early(seconds)):
            return ended
        if self.ended_by == "output":
            return self._flooded()
        if self.ended_by == "timeout":
            return "timeout", f"stopped: it ran on for {seconds:g} s after the last probe"
        script = self.script or {}
        if script.get("status") in ("error", "memory", "blocked"):
            return script["status"], _message(script)
        if self.probe_status is not None:
            return self.probe_status, "; ".join(
                f"{probe}: {fault.splitlines()[0]}" for probe, fault in self.faults.items() if fault
            )
        return "ok", None

    def _ended_early(self, seconds: float) -> tuple[RunStatus, str | None]:
        """Why the run ended before all probes were asked."""
        if self.ended_by == "timeout":
            step = "the script" if self.script is None else "a probe"
            return "timeout", f"stopped: {step} ran longer than {seconds:g} s"
        if self.ended_by == "output":
            return self._flooded()
        if self.ended_by == "wire":
            return "crashed", f"the process sent what is no value: {self.wire_problem}"
        if self.stopped in _STOPPED:
            return _STOPPED[self.stopped]
        if self.exit is not None and self.exit < 0:
            return self._signalled(-self.exit)
        return "crashed", (
            f"the process ended early, with exit status {self.exit}: "
            "remove os._exit() or whatever else ends it"
        )

    def _flooded(self) -> tuple[RunStatus, str]:
        return "output", f"stopped: it printed more than {MAX_OUTPUT // 1024**2} MB; print less"

    def _signalled(self, number: int) -> tuple[RunStatus, str]:
        name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
        if number == signal.SIGXCPU:
            return "timeout", "stopped: it used more processor time than a run may"
        if number == signal.SIGSYS:
            return "blocked", "stopped: it made a system call that no task needs"
        if number == signal.SIGXFSZ:
            return "blocked", "stopped: it wrote a file larger than a run may"
        return "crashed", f"the process was ended by {name}"


def _message(header: dict[str, Any]) -> str:
    """A message that the child sent, as text of a bounded length."""
    message = header.get("message")
    text = message if isinstance(message, str) else "it failed without a message"
    return text.encode("utf-8", "replace").decode("utf-8")[:4000]


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
        self._texts = {"output": _Text(), "errors": _Text()}
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
