"""Workspaces: what a killed grader leaves is removed by the next one, what is in use is not."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import ROOT
from grader.workspace import Place

KILLED = """
import os, signal
from grader.workspace import Place
with Place().workspace() as folder:
    (folder / "file").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_workspace_is_empty_and_goes(temporary: Path) -> None:
    place = Place()
    with place.workspace() as folder:
        assert not list(folder.iterdir())
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
    assert not folder.exists()
    place.close()
    assert not list(temporary.iterdir())


def test_what_a_killed_grader_left_is_removed(temporary: Path) -> None:
    environment = {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", KILLED], env=environment, check=False)
    assert len(list(temporary.rglob("file"))) == 1
    Place().close()
    assert not list(temporary.iterdir())


def test_a_place_in_use_and_what_is_not_ours_are_left(temporary: Path) -> None:
    (temporary / "grader-runs-none").mkdir()
    (temporary / "target").mkdir()
    (temporary / "target" / "lock").write_text("")
    (temporary / "grader-runs-link").symlink_to(temporary / "target")
    place = Place()
    with place.workspace() as folder:
        Place().close()
        assert folder.is_dir()
    place.close()
    assert {path.name for path in temporary.iterdir()} == {
        "grader-runs-none", "grader-runs-link", "target",
    }  # fmt: skip
