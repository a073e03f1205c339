"""Collecting: what is taken of a submission, what is set aside, and what a student is told."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import collect as collecting
from grader.collect import MAX_BYTES, MAX_FILES, collect
from grader.records import Assignment, GraderError, Submission

WORK = b"a = 1\n"


@pytest.fixture
def lab(tmp_path: Path) -> Assignment:
    """A lab whose file is layers.py, with two course modules and a file put beside the script."""
    course = tmp_path / "assignments" / "course"
    course.mkdir(parents=True)
    for name in ("encoder.py", "text.py", "bert_features.py"):
        (course / name).write_bytes(b"")
    return Assignment(
        name="layers",
        title="Layers",
        file="layers.py",
        parts=(),
        cases=(),
        support=("bert_features",),
        folder=course.parent / "layers",
        course=course,
        solutions=None,
    )


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """An empty folder of the student ada."""
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    return folder


def _fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(WORK)


def _untaken(submission: Submission) -> str:
    """Why there is no entry: one sentence."""
    assert submission.entry is None
    assert submission.problem is not None
    assert "\n" not in submission.problem
    return submission.problem


# What is handed in --------------------------------------------------------------------------------


def test_folder(lab: Assignment, ada: Path) -> None:
    _fill(ada, "layers.py", "helpers.py", "deep/er/more.py", "notes.txt", "data.bin")
    (ada / "layers.py").write_bytes(b"\xff\x00 any bytes \r\n")
    submission = collect(lab, ada)
    assert submission.student == "ada"
    assert submission.entry == "layers.py"
    assert submission.problem is None
    assert submission.notices == ()
    assert list(submission.files) == [
        "data.bin", "helpers.py", "layers.py", "notes.txt", "deep/er/more.py",
    ]  # fmt: skip
    assert submission.files["layers.py"] == b"\xff\x00 any bytes \r\n"


@pytest.mark.parametrize("given", [".", "../ada", "../ada/", "../../in/ada"])
def test_folder_is_named_after_the_student_however_it_is_given(
    lab: Assignment, ada: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(ada, "layers.py")
    monkeypatch.chdir(ada)
    assert collect(lab, Path(given)).student == "ada"


def test_lone_file_is_of_the_folders_student(lab: Assignment, ada: Path) -> None:
    _fill(ada, "layers.py", "other.py")
    submission = collect(lab, ada / "layers.py")
    assert (submission.student, submission.entry) == ("ada", "layers.py")
    assert list(submission.files) == ["layers.py"]
    assert submission.notices == ()


def test_lone_file_named_after_the_student(lab: Assignment, ada: Path) -> None:
    _fill(ada, "grace.py")
    submission = collect(lab, ada / "grace.py")
    assert (submission.student, submission.entry) == ("grace", "grace.py")
    assert submission.notices == ("took grace.py for layers.py",)


def test_lone_file_of_another_kind(lab: Assignment, ada: Path) -> None:
    _fill(ada, "grace.docx")
    submission = collect(lab, ada / "grace.docx")
    assert submission.student == "grace"
    assert _untaken(submission) == "expected layers.py, found grace.docx"


@pytest.mark.parametrize("name", ["nowhere", "ada/layers.py", "n" * 300])
def test_missing_path(lab: Assignment, ada: Path, name: str) -> None:
    path = ada.parent / name
    with pytest.raises(GraderError) as caught:
        collect(lab, path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_no_files(lab: Assignment, ada: Path) -> None:
    (ada / "empty").mkdir()
    assert _untaken(collect(lab, ada)) == "expected layers.py, found no files"


def test_other_files_are_told(lab: Assignment, ada: Path) -> None:
    _fill(ada, *(f"file{n}.txt" for n in range(30)), "layer.py", "zebra.py")
    problem = _untaken(collect(lab, ada))
    assert problem.startswith("expected layers.py, found layer.py, ")
    assert len(problem) < 200


# Names that come near -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "layers (1).py", "Layers.py", "LAYERS.PY", "layers_final.py", "layers-2.py", "layers.v3.py",
        "layers copy.py", "layers - Copy (2).py", "layers_solution.py", "layers_final_v2 (3).py",
        "layers20240131.py", "hw06/layers.py", "hw06/src/layers.py", "hw06/Layers (1).py",
    ],
)  # fmt: skip
def test_near_name_is_taken_with_a_notice(lab: Assignment, ada: Path, name: str) -> None:
    _fill(ada, name, "helpers.py")
    submission = collect(lab, ada)
    assert submission.entry == name
    assert submission.notices == (f"took {name} for layers.py",)
    assert submission.files == {name: WORK, "helpers.py": WORK}


@pytest.mark.parametrize(
    "name",
    ["my_layers.py", "layers.txt", "layers.py.txt", "layerss.py", "players.py", "layers.pyc"],
)
def test_other_name_is_not_taken(lab: Assignment, ada: Path, name: str) -> None:
    _fill(ada, name)
    assert _untaken(collect(lab, ada)) == f"expected layers.py, found {name}"


@pytest.mark.parametrize(
    "names",
    [
        ("layers (1).py", "layers (2).py"),
        ("Layers.py", "layers_final.py"),
        ("a/layers.py", "b/layers.py"),
    ],
)
def test_two_candidates_are_not_guessed_between(
    lab: Assignment, ada: Path, names: tuple[str, str]
) -> None:
    _fill(ada, *names)
    submission = collect(lab, ada)
    problem = _untaken(submission)
    assert all(name in problem for name in names)
    assert submission.notices == ()


def test_exact_name_goes_before_near_ones(lab: Assignment, ada: Path) -> None:
    _fill(ada, "layers.py", "layers (1).py", "old/layers.py")
    submission = collect(lab, ada)
    assert submission.entry == "layers.py"
    assert submission.notices == ()
    shutil.move(ada / "layers.py", ada / "spare.py")
    assert collect(lab, ada).entry == "old/layers.py"


@pytest.mark.parametrize("tail", ["x", "!", " (1"])
def test_long_name_that_is_nearly_near_takes_no_time(lab: Assignment, ada: Path, tail: str) -> None:
    names = (f"layers{'1' * 21}{tail}.py", f"layers{'_v1' * 21}{tail}.py")
    _fill(ada, *names)
    start = time.process_time()
    _untaken(collect(lab, ada))
    assert time.process_time() - start < 0.2


# What is set aside or left out --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["encoder.py", "text.py", "bert_features.py", "bert_features.pt", "hw06/encoder.py",
     "bert_features.pt/inside.py", "hw06/bert_features.pt/x"],
)  # fmt: skip
def test_courses_own_files_are_set_aside(lab: Assignment, ada: Path, name: str) -> None:
    """The last two would be in the way when the harness puts its file there."""
    _fill(ada, "layers.py", name, "helpers.py")
    submission = collect(lab, ada)
    assert submission.entry == "layers.py"
    assert set(submission.files) == {"layers.py", "helpers.py"}
    assert submission.notices == (f"set aside {name}: the course's own is used",)


@pytest.mark.parametrize(
    "name",
    ["conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "sitecustomize.py",
     "usercustomize.py", "tests/conftest.py"],
)  # fmt: skip
def test_steering_files_are_set_aside(lab: Assignment, ada: Path, name: str) -> None:
    _fill(ada, "layers.py", name)
    submission = collect(lab, ada)
    assert set(submission.files) == {"layers.py"}
    assert submission.notices == (f"set aside {name}: it is not part of the task",)


def test_the_task_itself_may_have_a_course_modules_name(lab: Assignment, ada: Path) -> None:
    (lab.course / "layers.py").write_bytes(b"")
    _fill(ada, "layers.py")
    assert collect(lab, ada).entry == "layers.py"


def test_lone_steering_file_is_no_work(lab: Assignment, ada: Path) -> None:
    _fill(ada, "conftest.py")
    assert _untaken(collect(lab, ada / "conftest.py")) == "expected layers.py, found no files"


def test_junk_is_left_out(lab: Assignment, ada: Path) -> None:
    _fill(
        ada, "layers.py", "__MACOSX/._layers.py", ".DS_Store", "__pycache__/layers.pyc",
        ".git/layers.py", ".ipynb_checkpoints/layers.py", "Thumbs.db", "desktop.ini", "._layers.py",
        "deep/.hidden.py", "deep/__pycache__/x.pyc", ".venv/lib/layers.py",
    )  # fmt: skip
    submission = collect(lab, ada)
    assert list(submission.files) == ["layers.py"]
    (notice,) = submission.notices
    assert notice.startswith("left out what is no work: ")
    assert "__MACOSX" in notice


# Links, pipes, and too much -----------------------------------------------------------------------


def test_links_are_not_followed(lab: Assignment, ada: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    _fill(secret, "layers.py", "key.txt")
    (ada / "layers.py").symlink_to(secret / "layers.py")
    (ada / "key.txt").symlink_to("../../secret/key.txt")
    (ada / "folder").symlink_to(secret, target_is_directory=True)
    (ada / "loop").symlink_to(ada, target_is_directory=True)
    (ada / "dangling.py").symlink_to("nowhere")
    submission = collect(lab, ada)
    assert submission.files == {}
    assert _untaken(submission) == "expected layers.py, found no files"


def test_link_as_the_submission_is_refused(lab: Assignment, ada: Path) -> None:
    _fill(ada, "layers.py")
    for name, target in (("folder", ada), ("layers.py", ada / "layers.py"), ("gone", ada / "x")):
        link = ada.parent / name
        link.symlink_to(target)
        with pytest.raises(GraderError, match=name):
            collect(lab, link)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no FIFOs")
def test_pipes_do_not_block(lab: Assignment, ada: Path) -> None:
    os.mkfifo(ada / "layers.py")
    _fill(ada, "deep/helpers.py")
    os.mkfifo(ada / "deep" / "pipe.py")
    assert set(collect(lab, ada).files) == {"deep/helpers.py"}
    with pytest.raises(GraderError):
        collect(lab, ada / "layers.py")


def test_as_many_files_as_allowed(lab: Assignment, ada: Path) -> None:
    _fill(ada, "layers.py", *(f"f{n}" for n in range(MAX_FILES - 1)))
    assert collect(lab, ada).entry == "layers.py"
    _fill(ada, "one more")
    submission = collect(lab, ada)
    assert submission.files == {}
    assert _untaken(submission) == f"{MAX_FILES + 1} files were handed in, more than {MAX_FILES}"


def test_as_many_bytes_as_allowed(
    lab: Assignment, ada: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "MAX_BYTES", 3 * 2**20)
    _fill(ada, "layers.py")
    (ada / "a.bin").write_bytes(bytes(3 * 2**20 - len(WORK)))
    assert collect(lab, ada).entry == "layers.py"
    _fill(ada, "one more")
    submission = collect(lab, ada)
    assert submission.files == {}
    assert _untaken(submission) == "the files handed in are larger than 3 MB"


def test_huge_file_is_not_read(lab: Assignment, ada: Path) -> None:
    with (ada / "layers.py").open("wb") as stream:
        stream.truncate(10**12)  # a hole: no disk is used
    assert (
        _untaken(collect(lab, ada)) == f"the files handed in are larger than {MAX_BYTES >> 20} MB"
    )


@pytest.fixture
def deep(ada: Path) -> Iterator[Path]:
    """A file in more folders than Python's calls may go deep, and taken away again."""
    made = [f"{ada}{'/d' * depth}" for depth in range(1, 1100)]
    for path in made:
        os.mkdir(path)  # noqa: PTH102 - Path is slow here
    last = Path(made[-1], "x.py")
    last.write_bytes(WORK)
    yield ada
    last.unlink()
    for path in reversed(made):
        os.rmdir(path)  # noqa: PTH106


def test_deep_folders_do_no_harm(lab: Assignment, deep: Path) -> None:
    _fill(deep, "layers.py")
    submission = collect(lab, deep)
    assert submission.entry == "layers.py" or submission.problem


# Odd names and missing rights ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [b"caf\xe9.py", b"\xff\xfe", b"new\nline.py", b"\x1b[31mred.py", "日本.py".encode(), b"a b  c",
     b"<script>.py", b"-rf", b"back\\slash.py", b"x" * 255],
)  # fmt: skip
def test_odd_names_are_kept(lab: Assignment, ada: Path, name: bytes) -> None:
    _fill(ada, "layers.py", os.fsdecode(name))
    submission = collect(lab, ada)
    assert submission.entry == "layers.py"
    assert submission.files == {"layers.py": WORK, os.fsdecode(name): WORK}


def test_odd_name_of_a_student(lab: Assignment, ada: Path) -> None:
    folder = ada.parent / os.fsdecode(b"ren\xe9 <b>")
    _fill(folder, "layers.py")
    submission = collect(lab, folder)
    assert os.fsencode(submission.student) == b"ren\xe9 <b>"
    assert submission.entry == "layers.py"


@contextlib.contextmanager
def _without_rights() -> Iterator[Path]:
    """A folder outside the tests' own, with this process no longer root, who may read all."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in (folder, *folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o777)
        shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights work otherwise on this platform")
@pytest.mark.parametrize("closed", ["ada", "ada/deep", "ada/layers.py", "ada/deep/helpers.py"])
def test_what_may_not_be_read_is_told(lab: Assignment, closed: str) -> None:
    """It is staff's to mend, so it is neither a student's "no files" nor a traceback."""
    with _without_rights() as folder:
        (folder / "course").mkdir()
        lab = replace(lab, course=folder / "course")
        _fill(folder / "ada", "layers.py", "deep/helpers.py")
        (folder / closed).chmod(0)
        with pytest.raises(GraderError) as caught:
            collect(lab, folder / "ada")
        assert closed in str(caught.value)
        assert "\n" not in str(caught.value)
        (folder / closed).chmod(0o755)
