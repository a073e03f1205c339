"""Finds out what holds here: versions, bundles, and what a submission can and cannot do.

The protections are tried from inside, by a script in the sandbox that goes for canaries, rather
than read off version numbers: on some machines a call succeeds and protects nothing.
"""

from __future__ import annotations

import contextlib
import json
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader import __version__, bundles
from grader.home import home
from grader.records import BundleError, Case, Submission, Tier
from grader.runner import Runner

_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "pytest", "pytest-json-report")
_CASE = Case("doctor", "tiny", 30, 30, 30, 0, share=1, hidden=False, seconds=20, memory_mb=256)


@dataclass(frozen=True)
class Protection:
    """One thing that a submission must not be able to do."""

    name: str  #: what it is kept from
    active: bool  #: whether it was kept from it
    by: str  #: the layers that do it, or the mend where it is missing


def examine() -> dict[str, Any]:
    """Versions, bundles and protections, as `grader doctor --json` prints them."""
    tier, found = protections()
    return {
        "grader": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: version(name) for name in _PACKAGES},
        "course": str(home()),
        "bundles": {name: _bundle(name) for name in bundles.names()},
        "tier": tier,
        "protections": [asdict(protection) for protection in found],
    }


def _bundle(name: str) -> str:
    try:
        found = bundles.find(name)
    except BundleError as problem:
        return str(problem)
    return "ready" if found.weights else "ready, but for the encoder's weights"


def protections() -> tuple[Tier | None, list[Protection]]:
    """Try, from inside the sandbox, what a submission must not be able to do.

    Returns:
        The tier that is reached here, and each thing that was tried.

    Raises:
        SandboxError: no submission can be run here at all.
    """
    with _canaries() as canaries:
        script = f"CANARIES = {json.dumps(canaries)}\n{_SCRIPT}"
        submission = Submission("doctor", {"doctor.py": script.encode()}, "doctor.py")
        with Runner({"tiny": bundles.find("tiny")}, "limits") as runner:
            run = runner.launch(home() / "assignments" / "course", _CASE, submission, _PROBES)
    got = run.values.get("got")
    reached = got if isinstance(got, dict) else {}
    return run.tier, [
        Protection(name, not reached.get(key, True), layer if not reached.get(key, True) else mend)
        for key, (name, layer, mend) in _WANTED.items()
    ]


@contextlib.contextmanager
def _canaries() -> Iterator[dict[str, Any]]:
    """A file to read, a folder to write into, and a port to reach, all outside the sandbox."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret.txt"
        secret.write_text("canary")
        yield {"secret": str(secret), "folder": folder, "port": server.getsockname()[1]}


_NAMESPACES = (
    "it needs root, or namespaces for users (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu "
    "24.04 kernel.apparmor_restrict_unprivileged_userns=0); a container's default profile forbids "
    "them"
)
_LANDLOCK = "it needs Linux 6.2 or newer with Landlock; else grade where no solutions lie"
_SECCOMP = "it needs Linux with seccomp on x86-64 or aarch64"
_WANTED = {
    "read": ("reading the caller's files", "own file system, Landlock", _LANDLOCK),
    "see": ("seeing which files the caller has", "own file system", _NAMESPACES),
    "write": ("writing outside its folder", "own file system, Landlock", _LANDLOCK),
    "network": ("reaching the network", "own network, Landlock, system calls", _SECCOMP),
    "processes": ("seeing other processes", "own processes", _NAMESPACES),
    "programs": ("running other programs", "system calls", _SECCOMP),
    "privileges": ("gaining privileges", "no_new_privs, no capabilities", "it needs Linux"),
}

_PROBES = [("doctor_probes.py", "def got(m):\n    return m.got\n")]

_SCRIPT = """
import os
import socket


def read():
    open(CANARIES["secret"]).read()
    return True


def see():
    return os.path.exists(CANARIES["secret"])


def write():
    with open(CANARIES["secret"], "a") as stream:
        stream.write("x")
    return True


def network():
    socket.create_connection(("127.0.0.1", CANARIES["port"]), timeout=2).close()
    return True


def processes():
    return any(name.isdigit() and int(name) > 20 for name in os.listdir("/proc"))


def programs():
    return os.spawnv(os.P_WAIT, "/bin/true", ["true"]) == 0


def privileges():
    rows = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    return int(rows["NoNewPrivs"]) != 1 or int(rows["CapEff"], 16) != 0


got = {}
for attempt in (read, see, write, network, processes, programs, privileges):
    try:
        got[attempt.__name__] = attempt()
    except OSError:
        got[attempt.__name__] = False
"""


def platform_notice() -> str | None:
    """What must be said on systems where the kernel protects nothing."""
    if sys.platform == "linux":
        return None
    return "Outside Linux only separate processes and their limits hold: grade trusted work only."
