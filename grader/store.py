"""Grades and runs as files, each written beside its place and renamed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from grader import codec
from grader.files import write
from grader.records import Check, Compared, Grade, Run, Series

VERSION = 1
_PLAIN = ("assignment", "student", "points", "possible", "review", "late", "tier")


def grade_as_json(grade: Grade) -> dict[str, Any]:
    """A grade as `grade.json` holds it, version 1."""
    runs = [
        {
            "case": run.case,
            "status": run.status,
            "seconds": round(run.seconds, 3),
            "memory_mb": round(run.memory_mb, 1),
            "message": run.message,
        }
        for run in grade.runs
    ]
    return {
        "version": VERSION,
        "assignment": grade.assignment,
        "student": grade.student,
        "points": grade.points,
        "possible": grade.possible,
        "review": grade.review,
        "late": grade.late,
        "penalty": grade.penalty,
        "handed_in": grade.handed_in.isoformat() if grade.handed_in else None,
        "ids": dict(grade.ids),
        "digest": grade.digest,
        "tier": grade.tier,
        "notices": list(grade.notices),
        "runs": runs,
        "checks": [asdict(check) for check in grade.checks],
    }


def grade_from_json(body: dict[str, Any]) -> Grade:
    """A grade as `grade_as_json` gave it; its runs without values and output.

    Raises:
        KeyError, TypeError: it is of another version.
    """
    fields = {name: body[name] for name in _PLAIN}
    checks = [_check(check) for check in body["checks"]]
    runs = [Run(**run) for run in body["runs"]]
    notices = tuple(body["notices"])
    return Grade(**fields, notices=notices, runs=tuple(runs), checks=tuple(checks))


def _check(body: dict[str, Any]) -> Check:
    """A check with its tuples and records, which JSON does not know."""
    lists = {
        "probes": tuple(body["probes"]),
        "compared": tuple(Compared(**row) for row in body["compared"]),
        "series": tuple(
            Series(**one | {name: tuple(one[name]) for name in ("names", "received", "expected")})
            for one in body["series"]
        ),
    }
    return Check(**{**body, **lists})


def save_grade(folder: Path, grade: Grade, report: dict[str, Any]) -> None:
    """Write a student's grade and pytest's report into their folder."""
    texts = {
        "report.json": json.dumps(report, default=str, allow_nan=False),
        "grade.json": json.dumps(grade_as_json(grade), indent=1, allow_nan=False),
    }
    for name, text in texts.items():
        write(folder / name, text)


def save_run(path: Path, run: Run) -> None:
    """Write a run as `<path>.json` and, for its tensors, `<path>.safetensors`."""
    text, payload = as_pair(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path.with_suffix(".safetensors"), payload)
    write(path.with_suffix(".json"), text)


def load_run(path: Path) -> Run:
    """Read what `save_run` wrote.

    Raises:
        OSError, ValueError, codec.WireError: the files are not there or not whole.
    """
    text = path.with_suffix(".json").read_text("utf-8")
    try:
        return from_pair(text, path.with_suffix(".safetensors").read_bytes())
    except codec.WireError as problem:
        raise codec.WireError(f"{path}: no run of this version: {problem}") from None


def as_pair(run: Run) -> tuple[str, bytes]:
    """A run as JSON, and its tensors as safetensors."""
    if run.packed is not None:
        return run.packed
    tensors: dict[str, torch.Tensor] = {}
    body = {**vars(run), "values": codec.encode(dict(run.values), tensors, depth=-1)}
    body["notices"] = list(run.notices)
    return json.dumps(body, allow_nan=False), safetensors.torch.save(tensors)


def seen(run: Run) -> bytes:
    """A digest of what checks can see of a run: all but its times, memory and digests."""
    text, payload = as_pair(run)
    return hashlib.sha256(text[: text.rindex('"seconds": ')].encode() + payload).digest()


def from_pair(text: str, payload: bytes) -> Run:
    """The run that `as_pair` took apart.

    Raises:
        ValueError, codec.WireError: they are not whole.
    """
    try:
        body = json.loads(text)
        values = codec.decode(body.pop("values"), payload, depth=-1)
        if not isinstance(values, dict):
            raise codec.WireError("values that are no dict")
        run = Run(**{**body, "values": values, "notices": tuple(body["notices"])})
        object.__setattr__(run, "packed", (text, payload))
        return run
    except (AttributeError, KeyError, TypeError, RecursionError) as problem:
        raise codec.WireError(str(problem)) from None
