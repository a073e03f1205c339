"""The grading process's handle on a zygote: start it, ask it for forks, end it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path

from grader.bundles import Bundle
from grader.records import SandboxError
from grader.sandbox import Plan
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
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait busily take what other runs need
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "2",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "TMPDIR")


class Zygote:
    """A warm process, and the socket by which it is asked for forks."""

    def __init__(self, bundle: Bundle, course: Path) -> None:
        package = Path(__file__).resolve().parent
        self.readable = _readable(bundle.folder, course, package)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
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
            [
                *(sys.executable, "-P", "-m", "grader.zygote", str(theirs.fileno()), str(course)),
                *map(str, self.readable),
            ],
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

    def fork(self, plan: Plan) -> Pipes:
        """Fork a child; our ends of its pipes."""
        pairs = [os.pipe() for _ in Pipes._fields]
        to_child = {"job", "leash"}
        ours, theirs = [], []
        for field, (read, write) in zip(Pipes._fields, pairs, strict=True):
            ours.append(write if field in to_child else read)
            theirs.append(read if field in to_child else write)
        try:
            with self._lock:
                socket.send_fds(self._control, [json.dumps(plan.as_json()).encode()], theirs)
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
    found += [package, bundle, course]
    both = dict.fromkeys([*found, *(path.resolve() for path in found)])  # links stay links inside
    return [path for path in both if path.exists() and both.keys().isdisjoint(path.parents)]
