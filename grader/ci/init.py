"""Writes what a platform needs to grade: `github(...)` the workflow, `gradescope(...)` the zip."""

from __future__ import annotations

import hashlib
import io
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import jinja2
from packaging.requirements import Requirement

import grader
from grader.assignment import load
from grader.ci import Classroom
from grader.home import home, own
from grader.records import GraderError

_DISTRIBUTION = "torch-grader"
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
#: Where torch for processors alone is; the ordinary one brings gigabytes for graphics cards.
_TORCH = "https://download.pytorch.org/whl/cpu"
_SKIPPED = {"__pycache__", "_course"}


@dataclass(frozen=True)
class Hidden:
    """Where the instructor's side of the course is fetched from."""

    repository: str  #: OWNER/NAME
    ref: str  #: the branch, tag or commit; the release's tag for an asset
    asset: str | None = None  #: a zip of the course in a release
    sha256: str | None = None  #: what it must be


def hidden(source: str, sha256: str | None = None) -> Hidden:
    """Read OWNER/NAME@REF, or OWNER/NAME@TAG:ASSET for a release's asset.

    Raises:
        GraderError: it is neither.
    """
    name = r"[A-Za-z0-9][A-Za-z0-9._-]*"
    found = re.fullmatch(
        rf"(?P<repository>{name}/{name})@(?P<ref>[A-Za-z0-9._/-]+)(:(?P<asset>{name}))?", source
    )
    if not found:
        raise GraderError(
            f"--course {source}: write OWNER/NAME@REF for a private repository, or "
            "OWNER/NAME@TAG:ASSET for a release's asset"
        )
    if sha256 is not None and not (found["asset"] and re.fullmatch("[0-9a-f]{64}", sha256)):
        raise GraderError("--sha256: give 64 hexadecimal digits, and an asset by --course")
    return Hidden(found["repository"], found["ref"], found["asset"], sha256)


def github(
    lab: str,
    course: Hidden,
    *,
    secret: str = "GRADER_KEY",  # noqa: S107 - its name
    classroom: Classroom = "none",
    fail_below: float | None = None,
    requirement: str | None = None,
) -> str:
    """The workflow file for a repository that students start from.

    Args:
        lab: what is graded.
        course: where the hidden side is.
        secret: the name of the secret that opens it: a deploy key, or a token for an asset.
        classroom: whose notices and results are given.
        fail_below: percent of the points below which the job fails; never by default.
        requirement: what pip installs as the grader, instead of this version of it.

    Raises:
        AssignmentError: there is no such lab.
        GraderError: a name cannot stand in a workflow.
    """
    load(lab, public=True)
    requirement = requirement or f"{_DISTRIBUTION}=={grader.__version__}"
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", secret):
        raise GraderError(f"--secret {secret}: capital letters, digits and _ alone")
    if not re.fullmatch(r"[^'\s]+( @ [^'\s]+)?", requirement):
        raise GraderError(f"--grader {requirement}: no requirement of pip's")
    pins = pinned()
    where = f"release {course.ref} of {course.repository}" if course.asset else course.repository
    return _filled(
        "github.yml.j2",
        lab=lab,
        source=where,
        secret=secret,
        repository=course.repository,
        ref=course.ref,
        asset=course.asset,
        sha256=course.sha256,
        python=_PYTHON,
        pins=pins,
        pins_digest=hashlib.sha256("\n".join(pins).encode()).hexdigest()[:16],
        torch_index=_TORCH,
        requirement=requirement,
        classroom=classroom,
        fail_below=f" --fail-below {fail_below:g}" if fail_below is not None else "",
    )


def gradescope(lab: str, *, trust: bool = False) -> bytes:
    """The autograder's zip: `setup.sh`, `run_autograder`, the grader and the course with its lab.

    Args:
        lab: what is graded.
        trust: grade even where the platform's container lets only limits hold.

    Raises:
        AssignmentError: there is no such lab, or its hidden side is not here.
    """
    assignment = load(lab)
    words = {"lab": lab, "torch_index": _TORCH, "trust": " --trust-submissions" if trust else ""}
    texts = {
        "setup.sh": _filled("setup.sh.j2", **words),
        "run_autograder": _filled("run_autograder.j2", **words),
        "constraints.txt": "".join(f"{pin}\n" for pin in pinned()),
        "requirements.txt": "".join(f"{needed}\n" for needed in _needed(_DISTRIBUTION)),
    }
    files = {name: text.encode() for name, text in texts.items()}
    package = Path(grader.__file__).parent
    files |= dict(_below(package, "grader"))
    for folder in (assignment.course, assignment.folder):
        files |= dict(_below(folder, f"course/assignments/{folder.name}"))
    if assignment.solutions:
        files |= dict(_below(assignment.solutions, f"course/solutions/{lab}"))
    files |= dict(_below(own() / "templates", "grader/_course/templates"))
    files |= dict(_below(home() / "templates", "course/templates"))
    return _zipped(files)


def _below(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not _SKIPPED & set(inside.parts):
            yield f"{prefix}/{inside.as_posix()}", path.read_bytes()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """The same zip for the same files, whenever it is made; scripts may be executed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            script = data.startswith(b"#!")
            info.external_attr = (0o100755 if script else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, data)
    return stream.getvalue()


def pinned() -> list[str]:
    """Every package that the grader needs, directly or not, at the version that is here, sorted."""
    waiting, found = _needed(_DISTRIBUTION), dict[str, str]()
    for requirement in waiting:
        name = re.sub("[-_.]+", "-", requirement.name).lower()
        if name not in found:
            found[name] = metadata.version(name)
            waiting += _needed(name, requirement.extras)
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _needed(name: str, extras: set[str] | None = None) -> list[Requirement]:
    try:
        texts = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        raise GraderError(f"the package {name} is not installed: pip install {name}") from None
    needed = [Requirement(text) for text in texts]
    wanted = ("", *(extras or ()))
    return [
        each
        for each in needed
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in wanted)
    ]


def _filled(template: str, **words: object) -> str:
    """A template of this folder; its marks are others than those that the platforms use."""
    environment = jinja2.Environment(  # noqa: S701 - no HTML
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(version=grader.__version__, **words)
