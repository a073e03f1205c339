"""Runs submissions in the sandbox: `run_case(assignment, case, submission) -> run`.

The parent's side of a run. It owns the deadlines, reads with caps, believes only the jailer about
how a run ended, and turns whatever happens into one status.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from grader import codec
from grader.assignment import probe_sources
from grader.bundles import Bundle
from grader.listen import Heard, listen
from grader.records import Assignment, Case, Run, SandboxError, Submission
from grader.support import SUPPORT_SECONDS, as_file, support_probe, support_submission
from grader.zygote import Pipes

_START_SECONDS = 180.0  #: a cold disk can take this long to import torch
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "2",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "TMPDIR")


class Runner:
    """Warm processes, one for each bundle, that live as long as the `with` block.

    `run_case` may be called from several threads at once.
    """

    def __init__(self, bundles: Mapping[str, Bundle]) -> None:
        self.bundles = bundles
        self._zygotes: dict[str, _Zygote] = {}
        self._support: dict[tuple[str, Case], bytes] = {}
        self._lock = threading.RLock()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for zygote in self._zygotes.values():
            zygote.close()

    def run_case(self, assignment: Assignment, case: Case, submission: Submission) -> Run:
        """Run a submission in one case.

        Raises:
            BundleError: the case's bundle lacks what the assignment needs.
            SandboxError: the sandbox itself failed; never for anything a submission did.
        """
        if submission.entry is None:
            return Run(case=case.name, status="missing", message=submission.problem)
        given = self._support_files(assignment, case)
        complete = replace(submission, files={**submission.files, **given})
        return self.launch(assignment.course, case, complete, probe_sources(assignment, case))

    def _support_files(self, assignment: Assignment, case: Case) -> dict[str, bytes]:
        """The files that the task promises beside the script, made once for each case."""
        return {
            f"{script}.pt": self._support_file(assignment, case, script)
            for script in assignment.support
        }

    def _support_file(self, assignment: Assignment, case: Case, script: str) -> bytes:
        with self._lock:
            key = (script, replace(case, name="", share=0.0))
            if key not in self._support:
                submission = support_submission(assignment, script)
                patient = replace(case, seconds=SUPPORT_SECONDS)
                run = self.launch(assignment.course, patient, submission, support_probe(script))
                self._support[key] = as_file(script, case, run)
            return self._support[key]

    def launch(
        self, course: Path, case: Case, submission: Submission, sources: list[tuple[str, str]]
    ) -> Run:
        """Run files that have an entry, with the given probe sources, in one case."""
        files = submission.files
        zygote = self._zygote(case.bundle, course)
        with _workspace() as workspace:
            header = {
                "workspace": str(workspace),
                "entry": submission.entry,
                "files": [[name, len(data)] for name, data in files.items()],
                "rows": {"train": case.train, "val": case.val, "test": case.test},
                "seed": case.seed,
                "probes": sources,
                "seconds": case.seconds,
                "memory_mb": case.memory_mb,
                "cpu_seconds": int(case.seconds * 4) + 10,
                "readable": [str(path) for path in zygote.readable],
            }
            try:
                job = codec.seal(header, b"".join(files.values()))
            except TypeError as problem:
                raise SandboxError(
                    f"case {case.name}: the files of the run are {problem}"
                ) from None
            ends = zygote.fork()
            heard = listen(ends, job, case.seconds)
        return _judge(case, heard)

    def _zygote(self, bundle: str, course: Path) -> _Zygote:
        """The warm process of a bundle, started when first asked for and again if it died."""
        with self._lock:
            known = self._zygotes.get(bundle)
            if known is None or not known.alive():
                self._zygotes[bundle] = known = _Zygote(self.bundles[bundle], course)
            return known


class _Zygote:
    """The parent's handle on one warm process."""

    def __init__(self, bundle: Bundle, course: Path) -> None:
        package = Path(__file__).resolve().parent
        self.readable = _readable(bundle.folder, course, package)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control = ours
        self._lock = threading.Lock()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment = {
            **inherited,
            **_ENVIRONMENT,
            "COURSE_BUNDLE": str(bundle.folder),
            "PYTHONPATH": str(package.parent),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.zygote", str(theirs.fileno()), str(course)],
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        theirs.close()
        self._await_ready(bundle)

    def _await_ready(self, bundle: Bundle) -> None:
        self._control.settimeout(_START_SECONDS)
        try:
            ready = self._control.recv(16)
        except TimeoutError:
            ready = b""
        self._control.settimeout(None)
        if ready != b"ready":
            self._process.kill()
            self._process.wait()
            self._log.seek(0)
            log = self._log.read()[-2000:].decode("utf-8", "replace").strip()
            self.close()
            raise SandboxError(f"the warm process for bundle {bundle.name} did not start:\n{log}")

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def fork(self) -> Pipes:
        """Fork a child; our ends of its pipes."""
        pairs = [os.pipe() for _ in Pipes._fields]
        to_child = {"job", "leash"}
        ours, theirs = [], []
        for field, (read, write) in zip(Pipes._fields, pairs, strict=True):
            ours.append(write if field in to_child else read)
            theirs.append(read if field in to_child else write)
        try:
            with self._lock:
                socket.send_fds(self._control, [b"f"], theirs)
        except OSError as problem:
            raise SandboxError(f"the warm process is gone: {problem}") from problem
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return Pipes(*ours)

    def close(self) -> None:
        """End the process and wait for it."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._log.close()


def _readable(bundle: Path, course: Path, package: Path) -> list[Path]:
    """What a submission may read: interpreter, libraries, the course and the bundle."""
    system = [
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/mime.types",
    ]
    kernel = ["/proc", "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/urandom"]
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    libraries = {Path(sysconfig.get_paths()[name]) for name in ("purelib", "platlib")}
    found = [*map(Path, system + kernel), *map(Path, sorted(prefixes)), *sorted(libraries)]
    return [*found, package, bundle, course]


@contextlib.contextmanager
def _workspace() -> Iterator[Path]:
    """An empty folder for one run, gone afterwards with whatever is in it."""
    folder = Path(tempfile.mkdtemp(prefix="grader-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judge(case: Case, heard: Heard) -> Run:
    """One run from what was heard: exactly one status, and the reason in a sentence."""
    if not heard.started and heard.ended_by is None:
        detail = heard.errors.strip()[-2000:]
        raise SandboxError(f"a run of case {case.name} did not start:\n{detail}")
    status, message = heard.verdict(case.seconds)
    return Run(
        case=case.name,
        status=status,
        message=message,
        values=heard.values,
        faults=heard.faults,
        output=heard.output,
        errors=heard.errors,
        seconds=heard.seconds,
        cpu_seconds=heard.cpu_seconds,
        memory_mb=heard.memory_mb,
    )
