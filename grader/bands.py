"""How far a value may be off: `assignments/<lab>/bands.toml`, written by calibration.

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
    false_fail: float | None = None  #: estimated chance that a right run needs more


class BandsFile(BaseModel):
    """What `bands.toml` holds; all but the bands themselves is written by calibration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: datetime.date | None = None
    versions: dict[str, str] = {}
    bands: dict[_Name, Band] = Field(min_length=1)
    lets_pass: dict[str, float] = {}  #: wrong file -> in what fraction of the draws it passes


def band(name: str) -> float:
    """A band of the lab whose checks are being loaded.

    Raises:
        LookupError: the lab has no such band; the message says what to add.
    """
    values = _current.get({})
    if name not in values:
        known = ", ".join(values) or "none"
        raise LookupError(f"bands.toml has no band {name!r} (it has {known}); add [bands.{name}]")
    return values[name]


@contextlib.contextmanager
def use(values: Mapping[str, float]) -> Iterator[None]:
    """Let the checks that are loaded inside have these bands."""
    token = _current.set(values)
    try:
        yield
    finally:
        _current.reset(token)


def path_of(folder: Path) -> Path:
    """Where a lab's bands stand."""
    return folder / "bands.toml"
