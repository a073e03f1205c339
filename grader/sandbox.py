"""The order in which a run gives up its rights, and how strong what is left of them is.

    jailer    leave(plan)            own processes, network, System V objects
      child   confine(plan, layers)  own file system and user, limits, Landlock, no capabilities,
                                     system calls

Each step takes what the kernel and the caller's rights allow, and the names of the layers in force
go with the run. `plan.without` leaves layers out, for the tests that show what each is for.
"""

from __future__ import annotations

import functools
import os
import resource
import struct
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader import kernel, landlock, namespaces, seccomp
from grader.records import TIERS, Tier

MEGABYTE = 1024 * 1024

#: Limits that are the same for every lab.
MAX_FILE_MB = 64  #: one file, and all that a run writes where it has a file system of its own
MAX_PROCESSES = 64
MAX_DESCRIPTORS = 256

#: What each tier consists of; more is welcome.
_LAYERS: dict[Tier, set[str]] = {
    "full": {"namespaces", "root", "seccomp", "no_new_privs", "limits"},
    "container": {"landlock", "seccomp", "no_new_privs", "limits"},
    "limits": {"limits"},
}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True)
class Plan:
    """What a run may do: made by the caller, sent to the zygote, the same in all its processes."""

    workspace: Path  #: an empty folder, the only one that may be written
    readable: tuple[Path, ...]  #: files and folders that may be read and executed
    memory_mb: int  #: on top of what the zygote maps
    cpu_seconds: int  #: processor time, as a net below the caller's wall clock
    without: tuple[str, ...] = ()  #: layers to leave out, in tests

    def as_json(self) -> dict[str, Any]:
        """The plan as plain JSON."""
        return {
            **asdict(self),
            "workspace": str(self.workspace),
            "readable": [str(path) for path in self.readable],
        }

    @staticmethod
    def from_json(body: dict[str, Any]) -> Plan:
        """The plan that `as_json` wrote."""
        readable = tuple(Path(path) for path in body["readable"])
        rest = {"workspace": Path(body["workspace"]), "without": tuple(body["without"])}
        return Plan(**{**body, "readable": readable, **rest})


def tier(layers: set[str]) -> Tier | None:
    """The strongest tier that layers make up, None for none."""
    return next((name for name in TIERS if _LAYERS[name] <= layers), None)


def leave(plan: Plan) -> tuple[set[str], int | None]:
    """The jailer's step: what it forks next is in namespaces of its own, where that is allowed.

    Returns:
        The names of the layers in force, and process 1 of the namespaces, with which they end.
    """
    init = None if "namespaces" in plan.without else namespaces.leave()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    return set() if init is None else {"namespaces"}, init


def confine(plan: Plan, layers: set[str], run: int) -> set[str]:
    """The child's step: give up every right that a submission does not need, for good.

    Returns:
        The names of all layers in force.
    """
    layers = layers | {"limits"}
    user = namespaces.user_for(run) if os.geteuid() == 0 else None
    if "namespaces" in layers and "root" not in plan.without:
        owner = -1 if user is None else user
        if namespaces.build_root(plan.readable, plan.workspace, MAX_FILE_MB, owner):
            layers.add("root")
    if "root" in layers and user is not None:  # elsewhere it could not read the interpreter
        namespaces.become(user)
    _limit(plan, own_processes="namespaces" in layers)
    if sys.platform != "linux":
        return layers
    kernel.prctl(kernel.PR_SET_DUMPABLE, int("root" in layers))
    if "no_new_privs" not in plan.without and kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1):
        layers.add("no_new_privs")
    shared = [Path("/tmp"), Path("/dev/shm")] if "root" in layers else []  # noqa: S108
    if "landlock" not in plan.without and landlock.restrict(
        plan.readable, [plan.workspace, *shared]
    ):
        layers.add("landlock")
    if "capabilities" not in plan.without:
        _drop_capabilities()
    own = {"own_processes": "namespaces" in layers, "own_mounts": "root" in layers}
    if "seccomp" not in plan.without and seccomp.install(**own):
        layers.add("seccomp")
    return layers


def _limit(plan: Plan, *, own_processes: bool) -> None:
    """Set the resource limits; memory counts from what the warm process maps already."""
    if "limits" in plan.without:
        return
    size = mapped()
    slack = 256 * MEGABYTE  # arenas and thread stacks reserve address space they never touch
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: MAX_FILE_MB * MEGABYTE,
        resource.RLIMIT_NOFILE: MAX_DESCRIPTORS,
        resource.RLIMIT_CPU: plan.cpu_seconds,
    }
    if size is not None:
        wanted[resource.RLIMIT_AS] = size["VmSize"] + plan.memory_mb * MEGABYTE + slack
        wanted[resource.RLIMIT_DATA] = size["VmData"] + plan.memory_mb * MEGABYTE
    if own_processes:  # elsewhere the limit would count all processes of the caller
        wanted[resource.RLIMIT_NPROC] = MAX_PROCESSES
    for limit, value in wanted.items():
        hard = resource.getrlimit(limit)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (bound, bound))


@functools.cache
def mapped() -> dict[str, int] | None:
    """Bytes of address space and of data of the warm process, None where /proc does not tell.

    To be called there first: its forks inherit the answer.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    rows = dict(line.split(":", 1) for line in lines if line.startswith("Vm"))
    return {name: int(row.split()[0]) * 1024 for name, row in rows.items()}


def _drop_capabilities() -> None:
    """Give up every capability, so that root inside is nobody outside."""
    for capability in range(64):
        kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    number = _CAPSET.get(kernel.MACHINE)
    if number is not None:
        head = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
        kernel.check(kernel.libc().syscall(number, head, bytes(24)), "capset")
