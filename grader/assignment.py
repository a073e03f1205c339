"""Loads an assignment: `assignments/<lab>/assignment.toml`, and `solutions/<lab>/cases.toml`.

The first is the student's side: parts, limits and public cases. The second, where the instructor's
side is present, adds the hidden cases.
"""

from __future__ import annotations

import ast
import re
import secrets
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from grader import bundles, late
from grader.bands import BandsFile, path_of
from grader.home import home, labs
from grader.records import Assignment, AssignmentError, Case, Disclosure, LateRule, Part, Tier
from grader.tomls import Strict, read_toml

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
_Rows = Annotated[int, Field(gt=0)] | None


class _Limits(Strict):
    seconds: float = Field(gt=0)
    memory_mb: int = Field(gt=0)
    min_tier: Tier = "container"


class _Part(Strict):
    name: _Name
    title: str = Field(min_length=1)
    points: float = Field(ge=0)


class _Case(Strict):
    name: _Name
    bundle: Literal["tiny", "banking77", "banking77-random", "banking77-minilm"]
    train: _Rows = None
    val: _Rows = None
    test: _Rows = None
    seed: int = Field(default=0, ge=0, lt=2**32)
    share: float = Field(ge=0, le=1)
    seconds: float | None = Field(default=None, gt=0)
    memory_mb: int | None = Field(default=None, gt=0)


class _Late(Strict):
    due: datetime
    zone: str | None = None
    grace_minutes: float = Field(default=0, ge=0)
    penalty: float = Field(default=0, ge=0, le=100)
    per: Literal["day", "hour"] = "day"
    cap: float = Field(default=100, ge=0, le=100)
    attempts: Literal["last", "best"] = "last"


class _File(Strict):
    """What `assignment.toml` holds."""

    version: Literal[1]
    title: str = Field(min_length=1)
    file: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.py$")
    support: list[_Name] = Field(default_factory=list)
    seed_by_student: bool = False  # whether hidden cases draw other rows for each student
    pretrained: bool = False  # whether it says nothing on an encoder of random weights
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    limits: _Limits
    disclosure: dict[str, Disclosure] = Field(default_factory=dict)
    parts: list[_Part] = Field(min_length=1)
    cases: list[_Case] = Field(min_length=1)
    late: _Late | None = None


class _Hidden(Strict):
    """What `cases.toml` holds."""

    secret: str | None = Field(default=None, min_length=16)
    cases: list[_Case] = Field(min_length=1)


def load(
    name: str,
    *,
    bundle: str = "tiny",
    case: str | None = None,
    public: bool = False,
    seconds: float | None = None,
) -> Assignment:
    """Load an assignment with the cases that are to be run.

    Args:
        name: the lab's name.
        bundle: which bundle's cases to take, or those of the one that it is like: a name, or the
            path of a folder with a `bundle.toml`.
        case: take only the case of this name, on whichever bundle.
        public: leave the instructor's side alone.
        seconds: a wall clock to use instead of the assignment's own.

    Raises:
        AssignmentError: there is no such lab or case, or a file of it is wrong; the message names
            the file, the field and the mend.
        BundleError: there is no such bundle.
    """
    root = home()
    path = root / "assignments" / name / "assignment.toml"
    if not path.is_file():
        raise AssignmentError(f"there is no lab {name!r}: the labs are {', '.join(labs())}")
    read = read_toml(path, _File)
    solutions = None if public else _solutions(root, name)
    cases = [_case(item, read.limits, hidden=False) for item in read.cases]
    secret = None
    if solutions is not None:
        hidden_path = solutions / "cases.toml"
        hidden = read_toml(hidden_path, _Hidden)
        cases += [_case(item, read.limits, hidden=True) for item in hidden.cases]
        _check_shares(hidden_path, cases)
        secret = _secret(hidden_path, hidden.secret) if read.seed_by_student else None
    _check_unique(path, "parts", [part.name for part in read.parts])
    _check_unique(path, "cases", [item.name for item in cases])
    if read.pretrained and bundle == "banking77-random":
        raise AssignmentError(f"{path}: pretrained: {name} says nothing on {bundle}; take another")
    chosen = _choose(path, cases, bundle, case)
    if seconds is not None:
        chosen = [replace(item, seconds=seconds) for item in chosen]
    _check_probes(path.parent, solutions)
    loaded = Assignment(
        name=name,
        title=read.title,
        file=read.file,
        parts=tuple(Part(part.name, part.title, part.points) for part in read.parts),
        cases=tuple(chosen),
        support=tuple(read.support),
        min_tier=read.limits.min_tier,
        bands=_bands(path.parent, chosen[0].bundle),
        late=_late(path, read.late),
        folder=path.parent,
        course=root / "assignments" / "course",
        solutions=solutions,
        disclosure=read.disclosure,
        language=read.language,
        secret=secret,
    )
    _check_disclosure(path, loaded)
    return loaded


def _secret(path: Path, secret: str | None) -> str:
    if secret is None:
        raise AssignmentError(
            f"{path}: secret: seed_by_student needs one; add a line such as "
            f'secret = "{secrets.token_hex(16)}"'
        )
    return secret


def _check_disclosure(path: Path, assignment: Assignment) -> None:
    """What is said of a check must be of one that there is; a student's copy lacks the hidden."""
    if assignment.solutions is None or not assignment.disclosure:
        return
    files = [assignment.folder / "test_public.py", assignment.solutions / "test_hidden.py"]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    known = {name for text in texts for name in re.findall(r"^def test_(\w+)", text, re.MULTILINE)}
    for name in sorted(set(assignment.disclosure) - known - {"default"}):
        raise AssignmentError(
            f"{path}: disclosure.{name}: there is no check test_{name}; mend or remove it"
        )


def _late(path: Path, read: _Late | None) -> LateRule | None:
    if read is None:
        return None
    try:
        return LateRule(**{**read.model_dump(), "due": late.zoned(read.due, read.zone)})
    except ValueError as problem:
        raise AssignmentError(f"{path}: late.due: {problem}") from None


def _bands(folder: Path, bundle: str) -> dict[str, float]:
    """How far values may be off on a bundle, by name; a lab of exact answers has no such file."""
    path = bands_file(folder, bundle)
    if path is None:
        return {}
    return {name: band.value for name, band in read_toml(path, BandsFile).bands.items()}


def bands_file(folder: Path, bundle: str) -> Path | None:
    """The bands of a lab on a bundle: its own, else those of the one it is like, else of `tiny`."""
    names = (bundles.named(bundle), bundles.like(bundle), "tiny")
    return next((path for name in names if (path := path_of(folder, name)).exists()), None)


def _solutions(root: Path, name: str) -> Path:
    """The instructor's side of a lab."""
    folder = root / "solutions" / name
    if not folder.is_dir():
        raise AssignmentError(
            f"{folder}: no such folder: grading needs the instructor's side of the lab; "
            "to check your own work, use `grader check`"
        )
    return folder


def _case(item: _Case, limits: _Limits, *, hidden: bool) -> Case:
    values = item.model_dump()
    values["seconds"] = item.seconds or limits.seconds
    values["memory_mb"] = item.memory_mb or limits.memory_mb
    return Case(**values, hidden=hidden)


def _check_unique(path: Path, field: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise AssignmentError(f"{path}: {field}: the name {name!r} is there twice; rename one")


def _check_shares(path: Path, cases: list[Case]) -> None:
    """The cases of one bundle must share out all points, no more and no less."""
    for bundle in sorted({case.bundle for case in cases}):
        total = sum(case.share for case in cases if case.bundle == bundle)
        if abs(total - 1) > 1e-9:
            raise AssignmentError(
                f"{path}: cases.share: the cases of bundle {bundle} add up to {total:g} with those "
                "of assignment.toml; make it 1"
            )


def _choose(path: Path, cases: list[Case], bundle: str, name: str | None) -> list[Case]:
    """The cases on a bundle; where it has none, those of the one it is like, on the bundle."""
    of = bundle if any(case.bundle == bundle for case in cases) else bundles.like(bundle)
    chosen = [case for case in cases if (case.name == name if name else case.bundle == of)]
    if not chosen:
        known = ", ".join(f"{case.name} ({case.bundle})" for case in cases)
        asked = f"no case {name!r}" if name else f"no case on bundle {bundle!r}"
        raise AssignmentError(f"{path}: cases: {asked}; there are {known}")
    return [replace(case, bundle=bundle) if case.bundle == of else case for case in chosen]


def _check_probes(folder: Path, solutions: Path | None) -> None:
    """See to it that the probes are Python.

    Here, since runs go on in threads, where Python 3.11 cannot parse two texts at once.
    """
    for path in _probe_files(folder, solutions):
        try:
            ast.parse(path.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError) as problem:
            raise AssignmentError(f"{path}: the probes cannot be read: {problem}") from None


def _probe_files(folder: Path, solutions: Path | None) -> list[Path]:
    """The probes for every case, then those for hidden cases where there are some."""
    hidden = [solutions / "probes.py"] if solutions else []
    return [folder / "probes.py", *(path for path in hidden if path.is_file())]


def probe_sources(assignment: Assignment, case: Case) -> list[tuple[str, str]]:
    """The probe files that a case uses, each as its path and its text."""
    paths = _probe_files(assignment.folder, assignment.solutions if case.hidden else None)
    return [(path.name, path.read_text("utf-8")) for path in paths]


def run_files(assignment: Assignment) -> dict[str, bytes]:
    """What a run needs of a lab, by path below the course's folder: probes and course modules."""
    paths = [
        *_probe_files(assignment.folder, assignment.solutions),
        *sorted(assignment.course.glob("*.py")),
    ]
    root = assignment.course.parent.parent
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def check_files(assignment: Assignment) -> list[Path]:
    """The files of checks: the students', and the hidden cases' where there are some."""
    files = [assignment.folder / "test_public.py"]
    if assignment.solutions and any(case.hidden for case in assignment.cases):
        files.append(assignment.solutions / "test_hidden.py")
    return [path for path in files if path.is_file()]
