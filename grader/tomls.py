"""Reads TOML that people write: `read_toml(path, model) -> record`, or one clear sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.records import AssignmentError


class Strict(BaseModel):
    """A table of a TOML file in which nothing is left to chance."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


_Model = TypeVar("_Model", bound=BaseModel)


def read_toml(path: Path, model: type[_Model]) -> _Model:
    """A TOML file as a checked record.

    Raises:
        AssignmentError: it cannot be read, or is not what the model says; with field and mend.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8-sig"))
        return model.model_validate(content)
    except OSError as problem:
        raise AssignmentError(f"{path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise AssignmentError(f"{path}: not valid TOML: {problem}") from None
    except ValidationError as problem:
        raise AssignmentError(f"{path}: {_sentence(problem)}") from None


def _sentence(problem: ValidationError) -> str:
    """The first thing that pydantic found, as field and mend."""
    first = problem.errors(include_url=False)[0]
    field = ".".join(str(step) for step in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{field}: there is no such field; remove it or mend its spelling"
    if first["type"] == "missing":
        return f"{field}: this field is missing; add it"
    return f"{field} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
