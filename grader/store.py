"""Results on disk: grades and runs, each file written beside its place and renamed.

<out>/<assignment>/<student>/grade.json, report.json
<out>/<assignment>/<student>/runs/<case>.json and <case>.safetensors
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from grader import codec
from grader.records import Grade, Run

VERSION = 1


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
        "tier": grade.tier,
        "notices": list(grade.notices),
        "runs": runs,
        "checks": [asdict(check) for check in grade.checks],
    }


def save_grade(folder: Path, grade: Grade, report: dict[str, Any]) -> None:
    """Write a student's grade, runs and pytest's report into their folder."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    for run in grade.runs:
        save_run(folder / "runs" / run.case, run)
    write(folder / "report.json", json.dumps(report, indent=1, default=str))
    write(folder / "grade.json", json.dumps(grade_as_json(grade), indent=1))


def save_run(path: Path, run: Run) -> None:
    """Write a run as `<path>.json` and, for its tensors, `<path>.safetensors`."""
    tensors: dict[str, torch.Tensor] = {}
    body = {**vars(run), "values": codec.encode(dict(run.values), tensors)}
    body["notices"] = list(run.notices)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path.with_suffix(".safetensors"), safetensors.torch.save(tensors))
    write(path.with_suffix(".json"), json.dumps(body, indent=1))


def load_run(path: Path) -> Run:
    """Read what `save_run` wrote.

    Raises:
        OSError, ValueError, codec.WireError: the files are not there or not whole.
    """
    body = json.loads(path.with_suffix(".json").read_text("utf-8"))
    payload = path.with_suffix(".safetensors").read_bytes()
    values = codec.decode(body.pop("values"), payload)
    if not isinstance(values, dict):
        raise codec.WireError(f"{path}: values that are no dict")
    return Run(**{**body, "values": values, "notices": tuple(body["notices"])})


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that it is whole or as it was before."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        beside.chmod(0o644)
        beside.replace(path)
    except BaseException:
        beside.unlink()
        raise
