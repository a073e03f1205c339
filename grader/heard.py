"""What one run let us hear, and the one status that follows from it."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any, Literal

from grader import codec
from grader.records import RunStatus, Value
from grader.sandbox import MAX_PROCESSES

#: What is kept of the head and of the tail of an output, in bytes.
KEEP_BYTES = 64 * 1024
#: Output at which a run is stopped, in bytes, and the most frames that it may send.
MAX_OUTPUT = 4 * 1024 * 1024
MAX_FRAMES = 2_000
_KINDS = ("start", "script", "value", "fault", "end")
#: What the jailer's reasons mean to a student.
_STOPPED: dict[str | None, tuple[RunStatus, str]] = {
    "memory": ("memory", "stopped: it needed more memory than a run may use"),
    "processes": ("blocked", f"stopped: it started more than {MAX_PROCESSES} processes"),
    "disk": ("blocked", "stopped: it wrote more files than a run may"),
}


class Text:
    """A stream's head and tail, and how much there was between them."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take what came next."""
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
