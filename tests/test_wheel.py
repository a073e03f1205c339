"""The built wheel: what is in it, and that it checks a student's work away from any checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from grader.home import labs


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("torch_grader-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_wheel_holds_the_students_side_and_no_solution(unpacked: Path) -> None:
    names = [path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")]
    for lab in labs():
        folder = f"grader/_course/assignments/{lab}"
        for file in ("assignment.toml", "README.md", f"{lab}.py", "probes.py", "test_public.py"):
            assert f"{folder}/{file}" in names
        assert f"{folder}/expected/public.json" in names
    assert "grader/_course/templates/feedback.html" in names
    assert "grader/tiny/data/encoder/model.safetensors" in names
    assert not [name for name in names if "solution" in name or "hidden" in name]
    assert not [name for name in names if "__pycache__" in name]


def test_wheel_checks_away_from_any_checkout(unpacked: Path, tmp_path: Path) -> None:
    submission = tmp_path / "pieces.py"
    submission.write_bytes((ROOT / "demo" / "pieces" / "ada" / "pieces.py").read_bytes())
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader", "check", "pieces", "pieces.py", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (grade,) = json.loads(done.stdout)["grades"]
    assert grade["points"] == pytest.approx(grade["possible"]) == pytest.approx(4)
