"""How far a value may be off: `assignments/<lab>/bands/<bundle>.toml`, written by calibration.

A check asks for a band by its name when its file is loaded: `FEATURES = band("features")`.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unit = Literal["tolerance", "rows"]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
_current: ContextVar[Mapping[str, float]] = ContextVar("bands")


class Band(BaseModel):
    """One band, and what is known of it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    unit: Unit  #: of the values compared, or how many rows an accuracy may be off
    value: float = Field(ge=0)
    right_runs: int | None = None  #: how many right runs it was made from
    largest: float | None = None  #: what the one of them that was furthest off needed
    false_fail: float | None = None  #: estimated chance that a right run of a case needs more


class BandsFile(BaseModel):
    """What a file of bands holds; all but the bands themselves is written by calibration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: datetime.date | None = None
    origin: Literal["measured", "published"] = "measured"  #: from runs, or from the lesson's table
    draws: int | None = None  #: how many draws of each case's rows they were made from
    false_fail: float | None = None  #: estimated chance that a right submission loses points to one
    versions: dict[str, str] = {}
    bands: dict[_Name, Band] = Field(min_length=1)
    #: Wrong file -> in what fraction of the draws the bands let it keep a part that it should lose.
    lets_pass: dict[str, float] = {}


def band(name: str) -> float:
    """A band of the lab whose checks are being loaded.

    Raises:
        LookupError: the lab has no such band; the message says what to add.
    """
    values = _current.get({})
    if name not in values:
        known = ", ".join(values) or "none"
        raise LookupError(
            f"there is no band {name!r}, only {known}; add [bands.{name}] to the files in bands/"
        )
    return values[name]


@contextlib.contextmanager
def use(values: Mapping[str, float]) -> Iterator[None]:
    """Let the checks that are loaded inside have these bands."""
    token = _current.set(values)
    try:
        yield
    finally:
        _current.reset(token)


def path_of(folder: Path, bundle: str) -> Path:
    """Where a lab's bands on a bundle stand."""
    return folder / "bands" / f"{bundle}.toml"


def as_toml(found: BandsFile, lab: str) -> str:
    """The text of a file of bands."""
    lines = [
        f"# Written by `grader verify {lab} --calibrate`; bands are not widened by hand.",
        f"date = {found.date}",
        f"draws = {found.draws}",
        f"false_fail = {found.false_fail!r}",
        "",
        "[versions]",
        *(f'{name} = "{text}"' for name, text in found.versions.items()),
    ]
    for name, band in found.bands.items():
        facts = band.model_dump(exclude_none=True)
        unit = facts.pop("unit")
        lines += ["", f"[bands.{name}]", f'unit = "{unit}"']
        lines += [f"{field} = {value!r}" for field, value in facts.items()]
    if found.lets_pass:
        lines += ["", "# In what fraction of the draws a wrong file keeps a part for the bands."]
        lines += ["[lets_pass]"]
        lines += [f'"{name}" = {share!r}' for name, share in found.lets_pass.items()]
    return "\n".join(lines) + "\n"
