"""The public interface: cheap to import, whole, and the same as the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import grader
from conftest import ROOT
from downloads import zipped
from grader import api

DEMO = ROOT / "demo" / "pieces"


def test_import_is_cheap() -> None:
    """Neither torch nor pytest nor the packages for notebooks come along."""
    code = (
        "import sys, grader; dir(grader); grader.Grade; grader.load; "
        "print(sorted({'torch', 'pytest', 'nbformat', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_public_name_is_there_and_documented() -> None:
    assert set(grader.__all__) <= set(dir(grader))
    for name in set(grader.__all__) - {"__version__"}:
        found = getattr(grader, name)
        assert found.__doc__, name
    typed = (ROOT / "grader" / "__init__.py").read_text("utf-8")
    for name in set(grader.__all__) - {"__version__"}:
        assert f"import {name} as {name}\n" in typed, f"{name} is not typed"
    assert (ROOT / "grader" / "py.typed").is_file()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        grader.nothing  # noqa: B018


def test_grading_as_the_commands_do(tmp_path: Path) -> None:
    lab = grader.load("pieces")
    assert "pieces" in grader.labs()
    found = grader.find_submissions(lab, [DEMO])
    assert {"ada", "ben"} <= set(found)
    ada, cleo = grader.grade(lab, DEMO / "ada", grader.read_submission(lab, DEMO / "cleo"))
    assert ada.points == pytest.approx(ada.possible) == 10
    outcomes = list(grader.grade_class(lab, [DEMO / "ada", DEMO / "cleo"], tmp_path))
    assert {o.student: o.points for o in outcomes} == {"ada": ada.points, "cleo": cleo.points}
    assert grader.regrade_class(lab, tmp_path, write=False) == []
    text = grader.export_results(tmp_path, "gradescope", students=["cleo"])
    assert text is not None
    assert json.loads(text)["score"] == round(cleo.points, 2)
    with pytest.raises(grader.GraderError, match="no results are there"):
        grader.regrade_class(lab, tmp_path / "nowhere")


def test_checking_ones_own_work(tmp_path: Path) -> None:
    """The file that is about to be handed in is checked as it is, a zip too."""
    path = tmp_path / "hw06.zip"
    path.write_bytes(zipped({"hw06/pieces.py": (DEMO / "ada" / "pieces.py").read_bytes()}))
    grade = grader.check("pieces", path)
    assert {check.case for check in grade.checks} == {"public"}
    assert grade.points == pytest.approx(grade.possible)
    assert grade.notices[0] == "took the files out of the folder hw06"


def test_files_for_platforms(tmp_path: Path) -> None:
    grader.write_github_workflow("pieces", "o/c@v1", tmp_path / "a" / "grade.yml")
    assert "repository: o/c" in (tmp_path / "a" / "grade.yml").read_text("utf-8")
    grader.write_gradescope_zip("pieces", tmp_path / "b" / "autograder.zip")
    assert (tmp_path / "b" / "autograder.zip").read_bytes()[:2] == b"PK"


def test_api_has_nothing_that_is_not_public() -> None:
    own = {
        name
        for name, value in vars(api).items()
        if getattr(value, "__module__", None) == api.__name__ and not name.startswith("_")
    }
    assert own == {name for name, home in grader._HOME.items() if home == "grader.api"}
