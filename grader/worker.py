"""In the jailed child: run one submission as a script would run, then answer the probes.

Everything here shares a process with the submission, so nothing here is secret or to be believed:
it holds no expected value, and what it sends is read by `codec` as an enemy's.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import linecache
import os
import random
import signal
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch

from grader import cells, codec

#: Longest message and number of frames of a traceback that are sent.
_MAX_TEXT = 600
_MAX_FRAMES = 8


class Unanswered(Exception):
    """A name that a probe asked for is not there; the message is for the student."""


class Overtime(BaseException):
    """A probe ran longer than it may. Not an Exception, so that few handlers swallow it."""


class Names:
    """What a submission defines at top level, by attribute; a missing name says what to do."""

    def __init__(self, namespace: dict[str, Any], file: str) -> None:
        self._namespace = namespace
        self._file = file

    def __getattr__(self, name: str) -> Any:
        if name not in self._namespace:
            raise Unanswered(f"`{name}` is not defined at the top level of {self._file}")
        value = self._namespace[name]
        if value is ...:
            raise Unanswered(f"`{name}` is not yet written: it is still `...`")
        return value


def main(job: int, result: int, output: int, errors: int) -> NoReturn:
    """Take the job, run it, send its values. Never returns; the process is confined already."""
    _redirect(output, errors)
    with os.fdopen(job, "rb") as stream:
        header, payload = next(codec.FrameReader().feed(stream.read()))
    workspace = Path(header["workspace"])
    _close_others(result)
    _renew_thread_pool(header["threads"])
    send = _sender(result)
    entry = _lay_out(header, payload, workspace)
    send({"kind": "start"})
    namespace, fault = _run_script(entry, workspace)
    send({"kind": "script", **fault})
    names = Names(namespace, entry.name)
    for name, probe in _probes(header["probes"]):
        send(_answer(name, probe, names, workspace, header["seconds"]))
    send({"kind": "end"})
    _flush()
    os._exit(0)


def _redirect(output: int, errors: int) -> None:
    """Standard input at end of file; output line by line, so that an early exit loses little."""
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (errors, 2)):
        os.dup2(source, target)
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        raw = io.FileIO(descriptor, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        wrapped = io.TextIOWrapper(
            buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
        setattr(sys, name, wrapped)
        setattr(sys, f"__{name}__", wrapped)


def _close_others(keep: int) -> None:
    """Close every descriptor but the standard three and the one for values."""
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)


def _renew_thread_pool(threads: int) -> None:
    """Let torch replace the pool that a fork left behind, while there is but one running.

    It does so at the first operation of any thread, without a lock: where several threads begin at
    once, as when transformers loads weights, one finds none ("Invalid thread pool!").
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it leaks the old one
        torch.set_num_threads(threads)


def _sender(result: int) -> Callable[[dict[str, Any]], None]:
    """A function that sends a header, with its `value` encoded; what cannot be sent is a fault."""

    def send(message: dict[str, Any]) -> None:
        try:
            value = {"value": message.pop("value")} if "value" in message else {}
            frame = codec.pack(message, **value)
        except BaseException as problem:  # noqa: BLE001 - a hostile value may raise anything
            reason = f"it gives {_text(problem)}"
            frame = codec.pack({"kind": "fault", "probe": message.get("probe"), "message": reason})
        view = memoryview(frame)
        while view:
            view = view[os.write(result, view) :]

    return send


def _lay_out(header: dict[str, Any], payload: bytes, workspace: Path) -> Path:
    """Write the submission's files, set paths, seeds and the case's rows; the script's path."""
    start = 0
    for name, length in header["files"]:
        target = workspace / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(payload[start : start + length])
        start += length
    os.chdir(workspace)
    importlib.import_module("course_bundle").use(header["rows"], header["seed"])
    entry = workspace / str(header["entry"])
    for place in dict.fromkeys((workspace, entry.parent)):  # a script's neighbours come first
        sys.path.insert(0, str(place))
    sys.argv = [str(entry)]
    reseed()
    return entry


def reseed() -> None:
    """Start every generator that a fork inherits from the same place."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def _run_script(entry: Path, workspace: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Execute the file as `python FILE` would; its namespace, and how it ended."""
    module = types.ModuleType("__main__")
    module.__file__ = str(entry)
    sys.modules["__main__"] = module
    try:
        for piece in cells.split(entry.read_bytes()):
            code = compile(piece, str(entry), "exec", dont_inherit=True)
            exec(code, module.__dict__)  # noqa: S102 - it is what we are for
    except BaseException as problem:  # noqa: BLE001 - sys.exit and KeyboardInterrupt too
        status = "memory" if _is_memory(problem) else "error"
        if _is_refusal(problem):
            status = "blocked"
        return module.__dict__, {"status": status, "message": describe(problem, workspace)}
    return module.__dict__, {"status": "ok", "message": None}


def _probes(sources: list[list[str]]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """The public functions of each probe file, in the order in which they stand there."""
    for number, (filename, source) in enumerate(sources):
        module = types.ModuleType(f"_probes_{number}")
        exec(compile(source, filename, "exec"), module.__dict__)  # noqa: S102 - the lab's own
        for name, function in list(module.__dict__.items()):
            own = getattr(function, "__module__", None) == module.__name__
            if own and isinstance(function, types.FunctionType) and not name.startswith("_"):
                yield name, function


def _answer(
    name: str, probe: Callable[[Any], Any], names: Names, workspace: Path, seconds: float
) -> dict[str, Any]:
    """Ask one probe, within its time; its value or why there is none."""
    reseed()
    overtime = f"it ran longer than {seconds:g} s"
    try:
        with _alarm(seconds):
            return {"kind": "value", "probe": name, "value": probe(names)}
    except Overtime:
        return {"kind": "fault", "probe": name, "status": "timeout", "message": overtime}
    except Unanswered as problem:
        return {"kind": "fault", "probe": name, "message": str(problem)}
    except BaseException as problem:  # noqa: BLE001 - whatever a submission raises is data
        status = {"status": "memory"} if _is_memory(problem) else {}
        message = describe(problem, workspace)
        return {"kind": "fault", "probe": name, "message": message, **status}


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise Overtime after a while. A submission may swallow it; the parent's deadline stands."""

    def ring(*_: object) -> NoReturn:
        raise Overtime

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def describe(problem: BaseException, workspace: Path) -> str:
    """An exception as a student should read it: what, where in their own files, and the mend."""
    told = f"{type(problem).__name__}: {_text(problem)}".rstrip(": ")
    mend = _mend(problem)
    try:
        where = _where(problem, workspace)
    except Exception:  # noqa: BLE001 - a hostile file name or frame
        where = []
    return "\n".join([told + (f" ({mend})" if mend else ""), *where])[: 5 * _MAX_TEXT]


def _where(problem: BaseException, workspace: Path) -> list[str]:
    """The student's own frames, outermost first, as `file, line, in function: source`."""
    lines = []
    if isinstance(problem, SyntaxError) and problem.filename:
        path = Path(problem.filename)
        lines.append(f"  {_place(path, path.name, problem.lineno or 0)}")
    for frame, line in traceback.walk_tb(problem.__traceback__):
        path = Path(frame.f_code.co_filename)
        if workspace not in path.parents:
            continue
        name = frame.f_code.co_name
        within = "" if name == "<module>" else f", in {name}"
        source = linecache.getline(str(path), line).strip()[:200]
        place = _place(path, str(path.relative_to(workspace)), line)
        lines.append(f"  {place}{within}: {source}")
    return lines[-_MAX_FRAMES:]


def _place(path: Path, name: str, line: int) -> str:
    """A line of a script by its file, of a notebook by its cell."""
    return cells.place(linecache.getlines(str(path)), line) or f"{name}, line {line}"


def _mend(problem: BaseException) -> str | None:
    """What to do about an exception whose own text does not say it here."""
    if isinstance(problem, EOFError):
        return "do not call input(): nobody is at the keyboard when a script is graded"
    if isinstance(problem, SystemExit):
        return "the script ended itself here; what follows did not run"
    if isinstance(problem, ModuleNotFoundError):
        return "hand in the modules that you wrote; others cannot be installed for grading"
    if _is_refusal(problem):
        return "a protection stopped this: no network, and files only in the working directory"
    if isinstance(problem, FileNotFoundError):
        return "only the files that you hand in and the task's own are there"
    if isinstance(problem, OSError) and "huggingface" in str(problem).lower():
        return "there is no network: take the encoder from the course module `encoder`"
    if _is_memory(problem):
        return "it needed more memory than a run may use"
    return None


def _is_refusal(problem: BaseException) -> bool:
    """Whether a protection said no."""
    return isinstance(problem, OSError) and problem.errno in (
        errno.EPERM, errno.EACCES, errno.EROFS,
    )  # fmt: skip


def _is_memory(problem: BaseException) -> bool:
    return isinstance(problem, MemoryError) or "can't allocate memory" in _text(problem)


def _text(problem: BaseException) -> str:
    """An exception's own words, even if saying them fails."""
    try:
        text = str(problem)
        half = _MAX_TEXT // 2
        return text if len(text) <= _MAX_TEXT else f"{text[:half]} … {text[-half:]}"
    except BaseException:  # noqa: BLE001 - a hostile __str__
        return "(its message cannot be shown)"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
