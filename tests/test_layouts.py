"""Every layout of a class's download is recognised, from a folder and from an archive."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import downloads
from downloads import WORK, notebook, repository, tarred, written, zipped
from grader import layouts, places, repos
from grader.assignment import load
from grader.attempts import Told
from grader.collect import collect
from grader.layouts import find
from grader.records import Assignment, GraderError, LateRule, Submission

NOON = "2026-10-01T12:00:00+00:00"


@pytest.fixture(scope="module")
def lab() -> Assignment:
    return load("pieces")


def _found(lab: Assignment, *paths: Path, **options: object) -> dict[str, Submission]:
    """What is found and collected, one submission a student."""
    told = Told(**{k: v for k, v in options.items() if k in ("roster", "record", "ref")})  # type: ignore[arg-type]
    layout = options.get("layout")
    sources = find(lab, paths, told, options.get("remarks"), layout)  # type: ignore[arg-type]
    assert all(len(each) == 1 for each in sources.values())
    return {student: collect(lab, each[0]) for student, each in sources.items()}


def _either(tmp_path: Path, kind: str, files: downloads.Files) -> Path:
    """The download as a folder, or as the zip or tar that it comes in."""
    if kind == "folder":
        return written(tmp_path / "download", files)
    path = tmp_path / f"download.{kind}"
    path.write_bytes(zipped(files) if kind == "zip" else tarred(files))
    return path


@pytest.fixture(params=["folder", "zip", "tar.gz"])
def download(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[downloads.Files], Path]:
    return lambda files: _either(tmp_path, request.param, files)


def test_moodle(lab: Assignment, download: Callable[[downloads.Files], Path]) -> None:
    remarks: list[str] = []
    found = _found(lab, download(downloads.moodle()), remarks=remarks)
    assert set(found) == {
        "Ada Lovelace_1201", "Ada Lovelace_1202", "José_María O'Neil_1203", "李 小龙_1204",
        "Late Comer_1205",
    }  # fmt: skip
    entries = {name: submission.entry for name, submission in found.items()}
    assert entries["Ada Lovelace_1201"] == "pieces.py"
    assert entries["Ada Lovelace_1202"] == "pieces (1).py"
    assert entries["José_María O'Neil_1203"] == entries["李 小龙_1204"] == "pieces.py"
    assert "found onlinetext.html" in (found["Late Comer_1205"].problem or "")
    assert found["José_María O'Neil_1203"].ids == {"moodle": "1203", "name": "José_María O'Neil"}
    assert "opened hw.zip" in found["José_María O'Neil_1203"].notices
    assert "read as moodle, 5 found" in remarks[0]


def test_moodle_without_folders(
    lab: Assignment, download: Callable[[downloads.Files], Path]
) -> None:
    found = _found(lab, download(downloads.moodle_flat()))
    assert set(found) == {"Ada Lovelace_1201", "李 小龙_1204"}
    assert set(found["Ada Lovelace_1201"].files) == {"pieces.py", "helpers.py"}


def test_canvas(lab: Assignment, download: Callable[[downloads.Files], Path]) -> None:
    found = _found(lab, download(downloads.canvas()))
    assert set(found) == {
        "lovelaceada_1001", "hopper-murraygrace_1002", "李小龙_1003", "zuseconrad_1004",
    }  # fmt: skip
    assert all(submission.entry == "pieces.py" for submission in found.values())
    assert set(found["lovelaceada_1001"].files) == {"pieces.py", "helpers.py"}
    again = found["hopper-murraygrace_1002"]
    assert again.files == {"pieces.py": WORK}
    assert "Canvas marked it as late" in again.notices
    assert again.ids == {"canvas": "1002"}


def test_gradescope(lab: Assignment, download: Callable[[downloads.Files], Path]) -> None:
    found = _found(lab, download(downloads.gradescope()))
    assert set(found) == {
        "ada@example.org", "grace@example.org", "li@example.org", "n@example.org",
    }  # fmt: skip
    assert found["ada@example.org"].handed_in == datetime(2026, 10, 1, 10, tzinfo=UTC)
    assert found["li@example.org"].handed_in == datetime(2026, 10, 2, 8, tzinfo=UTC)
    assert found["grace@example.org"].files == found["li@example.org"].files == {"pieces.py": WORK}
    assert found["li@example.org"].ids["name"] == "李 小龙"
    assert "found notes.txt" in (found["n@example.org"].problem or "")
    assert found["n@example.org"].handed_in is None


@pytest.mark.parametrize("text", [b"[", b"\xff\xfe\xfa", b"a: &a [*a", b"- 1\n- 2\n"])
def test_gradescope_with_a_broken_file(lab: Assignment, tmp_path: Path, text: bytes) -> None:
    folder = written(tmp_path / "x", {"submission_metadata.yml": text, "submission_1/a.py": WORK})
    with pytest.raises(GraderError, match="submission"):
        find(lab, [folder])


def test_folder_a_student(lab: Assignment, download: Callable[[downloads.Files], Path]) -> None:
    files = {
        "ada/pieces.py": WORK,
        "ben/hw06/pieces.py": WORK,
        "ben/__MACOSX/._pieces.py": b"",
        "cleo/pieces.ipynb": notebook("words = 1"),
        "dan.zip": zipped({"pieces.py": WORK}),
        "eva.tar.gz": tarred({"work/pieces.py": WORK}),
        ".DS_Store": b"",
    }
    remarks: list[str] = []
    found = _found(lab, download(files), remarks=remarks)
    assert set(found) == {"ada", "ben", "cleo", "dan", "eva"}
    assert all(submission.entry == "pieces.py" for submission in found.values())
    assert "took the files out of the folder hw06" in found["ben"].notices
    assert remarks == []


@pytest.mark.parametrize("wrapped", [False, True])
def test_flat(lab: Assignment, download: Callable[[downloads.Files], Path], wrapped: bool) -> None:
    files = {
        "ada.py": WORK,
        "ben_pieces.py": WORK,
        "pieces-cleo.ipynb": notebook("words = 1"),
        "dan.zip": zipped({"pieces.py": WORK}),
        "李.tgz": tarred({"pieces.py": WORK}),
    }
    if wrapped:
        files = {f"submissions/{name}": data for name, data in files.items()}
        found = _found(lab, download(files), layout="flat")
    else:
        found = _found(lab, download(files))
    assert set(found) == {"ada", "ben", "cleo", "dan", "李"}
    assert all(submission.entry for submission in found.values())


def test_class_of_one(lab: Assignment, tmp_path: Path) -> None:
    """A folder with a student's folder alone is a class, unless that folder wraps work."""
    written(tmp_path / "class", {"ada/pieces.py": WORK})
    remarks: list[str] = []
    assert set(_found(lab, tmp_path / "class", remarks=remarks)) == {"ada"}
    assert "read as folders, 1 found; --layout insists" in remarks[0]
    assert set(_found(lab, tmp_path / "class", layout="single")) == {"class"}
    for wrapper in ("hw06", "src", "pieces", "Homework 3"):
        written(tmp_path / wrapper / "ada", {f"{wrapper}/pieces.py": WORK})
        found = _found(lab, tmp_path / wrapper / "ada")
        assert found["ada"].entry == "pieces.py"
        assert set(_found(lab, tmp_path / wrapper / "ada", layout="folders")) == {wrapper}


@pytest.mark.parametrize(
    "files",
    [
        {"pieces.py": WORK, "a/x.py": WORK, "b/y.py": WORK},
        {"Pieces (1).py": WORK, "helpers.py": WORK},
        {"work.zip": zipped({"pieces.py": WORK})},
        {"pieces.ipynb": notebook("words = 1")},
    ],
)
def test_one_students_work(lab: Assignment, tmp_path: Path, files: downloads.Files) -> None:
    found = _found(lab, written(tmp_path / "ada", files))
    assert set(found) == {"ada"}
    assert found["ada"].entry


def test_archive_of_one_student(lab: Assignment, tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    path.write_bytes(zipped({"hw06/pieces.py": WORK, "__MACOSX/hw06/._pieces.py": b"\0"}))
    for found in (_found(lab, path), _found(lab, path, layout="single")):
        assert found["ada"].entry == "pieces.py"
    assert collect(lab, path).notices == (
        "left out what is no work: __MACOSX",
        "took the files out of the folder hw06",
    )


def test_layout_that_is_none(lab: Assignment, tmp_path: Path) -> None:
    written(tmp_path / "class", {"ada/pieces.py": WORK})
    with pytest.raises(GraderError, match="no such layout; one of single, folders"):
        find(lab, [tmp_path / "class"], layout="blackboard")
    with pytest.raises(GraderError, match="no submission is there in the layout moodle"):
        find(lab, [tmp_path / "class"], layout="moodle")
    with pytest.raises(GraderError, match="is it Gradescope's export"):
        find(lab, [tmp_path / "class"], layout="gradescope")


@pytest.mark.parametrize("name", ["grades.csv", "index.html", "anonymous.html", "x" * 250])
def test_names_that_no_student_can_have(lab: Assignment, tmp_path: Path, name: str) -> None:
    (tmp_path / "roster.csv").write_text(f"student,login\n{name},ada\n", "utf-8")
    written(tmp_path / "class", {"ada/pieces.py": WORK, "ben/pieces.py": WORK})
    with pytest.raises(GraderError, match="no student can be named"):
        _found(lab, tmp_path / "class", roster=tmp_path / "roster.csv")


@pytest.mark.parametrize("name", ["../../etc", "/root", "..", ".ssh", "a\nb"])
def test_names_stay_in_the_results(lab: Assignment, tmp_path: Path, name: str) -> None:
    (tmp_path / "roster.csv").write_text(f'student,login\n"{name}",ada\n', "utf-8")
    written(tmp_path / "class", {"ada/pieces.py": WORK, "ben/pieces.py": WORK})
    (student,) = set(_found(lab, tmp_path / "class", roster=tmp_path / "roster.csv")) - {"ben"}
    assert not {"/", "\n"} & set(student)
    assert not student.startswith(".")


# Who and when -------------------------------------------------------------------------------------


def test_roster_names_students(lab: Assignment, tmp_path: Path) -> None:
    folder = written(tmp_path / "canvas", downloads.canvas())
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "\ufeffstudent,canvas_id,email\nada,1001,ada@example.org\n"
        '"Hopper, Grace",1002,\n小龙,1003,\nabsent,1009,\n',
        "utf-8",
    )
    remarks: list[str] = []
    found = _found(lab, folder, roster=roster, remarks=remarks)
    assert set(found) == {"ada", "Hopper, Grace", "小龙", "zuseconrad_1004"}
    assert found["ada"].ids["email"] == "ada@example.org"
    assert "not in the roster: zuseconrad_1004" in remarks
    assert "handed in nothing: absent" in remarks


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("student,id\nada,1001\nben,1001\n", "may be 'ada' and 'ben'"),
        ("student,id\nada,1001\nada,1002\n", "line 3: 'ada' is there twice"),
        ("student,id\n,1001\n", "line 2: the column 'student' is empty"),
    ],
)
def test_rosters_that_say_too_much(
    lab: Assignment, tmp_path: Path, text: str, sentence: str
) -> None:
    folder = written(tmp_path / "canvas", downloads.canvas())
    (tmp_path / "roster.csv").write_text(text, "utf-8")
    with pytest.raises(GraderError, match=sentence):
        _found(lab, folder, roster=tmp_path / "roster.csv")


def _due(lab: Assignment, **fields: object) -> Assignment:
    return replace(lab, late=LateRule(due=datetime.fromisoformat(NOON), **fields))  # type: ignore[arg-type]


def test_last_attempt_in_time_counts(lab: Assignment, tmp_path: Path) -> None:
    """Two accounts of one student in one download, by the server's times."""
    metadata = "".join(
        f"submission_{n}:\n  :submitters:\n  - :email: ada@example.org\n"
        f"  :created_at: 2026-10-0{day} 10:00:00 Z\n"
        for n, day in ((1, 1), (2, 3), (3, 2))
    )
    files = {f"submission_{n}/pieces.py": f"n = {n}\n".encode() for n in (1, 2, 3)}
    folder = written(tmp_path / "export", {"submission_metadata.yml": metadata.encode(), **files})
    for assignment, wanted in ((lab, 2), (_due(lab), 1)):
        (submission,) = _found(assignment, folder).values()
        assert submission.files == {"pieces.py": f"n = {wanted}\n".encode()}
        assert any("of 3 attempts" in notice for notice in submission.notices)
    best = find(_due(lab, attempts="best"), [folder])
    assert len(best["ada@example.org"]) == 3


def test_browsers_numbers_are_attempts(lab: Assignment, tmp_path: Path) -> None:
    files = {"ada.py": b"a = 0\n", "ada (1).py": b"a = 1\n", "ada (2).py": b"a = 2\n"}
    found = _found(lab, written(tmp_path / "flat", files))
    assert found["ada"].files == {"ada (2).py": b"a = 2\n"}


def test_two_of_one_student_are_not_guessed_between(lab: Assignment, tmp_path: Path) -> None:
    folder = written(tmp_path / "flat", {"ada.py": WORK, "ada.ipynb": notebook("words = 1")})
    with pytest.raises(GraderError, match=r"are both of 'ada'; rename one, or give their times"):
        find(lab, [folder])


def test_record_gives_times(lab: Assignment, tmp_path: Path) -> None:
    folder = written(tmp_path / "class", {"ada/pieces.py": WORK, "ben/pieces.py": WORK})
    record = tmp_path / "times.csv"
    record.write_text(f"Student,Time\nada,{NOON}\n", "utf-8")
    remarks: list[str] = []
    found = _found(_due(lab), folder, record=record, remarks=remarks)
    assert found["ada"].handed_in == datetime.fromisoformat(NOON)
    assert found["ben"].handed_in is None
    assert "nobody says when ben handed in" in remarks[0]


# Repositories -------------------------------------------------------------------------------------


def test_classroom(lab: Assignment, tmp_path: Path) -> None:
    commits = downloads.classroom(tmp_path)
    remarks: list[str] = []
    found = _found(lab, tmp_path / "pieces-submissions", remarks=remarks)
    assert set(found) == {"ada-l", "grace-h"}
    assert "read as classroom" in remarks[0]
    assert found["ada-l"].files["pieces.py"] == b"late = 1\n"
    assert found["ada-l"].ids == {"github": "ada-l", "commit": commits["ada-l"][1]}
    in_time = _found(_due(lab), tmp_path / "pieces-submissions")
    assert in_time["ada-l"].files == {"pieces.py": WORK}
    assert in_time["ada-l"].handed_in == datetime(2026, 10, 1, 10, tzinfo=UTC)
    assert any("its time is its author's own" in notice for notice in in_time["ada-l"].notices)


def test_extension_moves_the_commit_that_counts(lab: Assignment, tmp_path: Path) -> None:
    downloads.classroom(tmp_path)
    later = datetime.fromisoformat(NOON) + timedelta(days=5)
    found = _found(_due(lab, extensions={"ada-l": later}), tmp_path / "pieces-submissions")
    assert found["ada-l"].files["pieces.py"] == b"late = 1\n"
    assert found["grace-h"].files == {"pieces.py": WORK}


def test_servers_record_goes_before_the_commits_dates(lab: Assignment, tmp_path: Path) -> None:
    """A commit that says it was made in time, and was pushed after the due date."""
    names = repository(
        tmp_path / "class" / "ada",
        ("2026-10-01T08:00:00+00:00", {"pieces.py": WORK}),
        ("2026-10-01T09:00:00+00:00", {"pieces.py": b"backdated = 1\n"}),
    )
    repository(tmp_path / "class" / "ben", ("2026-10-01T08:00:00+00:00", {"pieces.py": WORK}))
    record = tmp_path / "pushes.csv"
    record.write_text(
        f"student,time,commit\nada,2026-10-01T08:30:00Z,{names[0]}\n"
        f"ada,2026-10-02T08:30:00Z,{names[1]}\n",
        "utf-8",
    )
    assert _found(_due(lab), tmp_path / "class")["ada"].files["pieces.py"] == b"backdated = 1\n"
    found = _found(_due(lab), tmp_path / "class", record=record)
    assert found["ada"].files["pieces.py"] == WORK
    assert found["ada"].handed_in == datetime(2026, 10, 1, 8, 30, tzinfo=UTC)
    record.write_text(f"student,time,commit\nada,2026-10-01T08:30:00Z,{'0' * 40}\n", "utf-8")
    with pytest.raises(GraderError, match=r"the commit 0+ of the record is not in it"):
        _found(lab, tmp_path / "class", record=record)


def test_bare_repositories_and_refs(lab: Assignment, tmp_path: Path) -> None:
    for user in ("ada", "ben"):
        repository(tmp_path / "w" / user, (NOON, {"pieces.py": WORK}), branch="trunk")
        downloads._git(tmp_path / "w" / user, "tag", "v1")
        downloads._git(tmp_path / "w" / user, "checkout", "--quiet", "-b", "hand-in")
        written(tmp_path / "w" / user, {"pieces.py": b"branch = 1\n"})
        downloads._git(tmp_path / "w" / user, "commit", "--quiet", "--all", "--message=x")
        downloads._git(tmp_path / "w" / user, "checkout", "--quiet", "trunk")
        downloads.bare(tmp_path / "bare" / f"{user}.git", tmp_path / "w" / user)
    for folder in (tmp_path / "w", tmp_path / "bare"):
        assert set(_found(lab, folder)) == {"ada", "ben"}
        assert _found(lab, folder)["ada"].files == {"pieces.py": WORK}
        assert _found(lab, folder, ref="v1")["ada"].files == {"pieces.py": WORK}
        assert _found(lab, folder, ref="hand-in")["ben"].files == {"pieces.py": b"branch = 1\n"}
        gone = _found(lab, folder, ref="nowhere")["ada"]
        assert gone.problem == "the repository has no branch or tag 'nowhere'"


def test_clones_and_folders_side_by_side(lab: Assignment, tmp_path: Path) -> None:
    """One clone among folders, and one folder among clones: nobody is left out."""
    folders = written(tmp_path / "a", {"ada/pieces.py": WORK, "ben/pieces.py": WORK})
    repository(folders / "cleo", (NOON, {"pieces.py": b"committed = 1\n"}))
    written(folders / "cleo", {"pieces.py": WORK})
    found = _found(lab, folders)
    assert set(found) == {"ada", "ben", "cleo"}
    assert all(each.files == {"pieces.py": WORK} for each in found.values())
    clones = written(tmp_path / "b", {"ada/pieces.py": WORK})
    for user in ("ben", "cleo"):
        repository(clones / user, (NOON, {"pieces.py": WORK}))
    assert set(_found(lab, clones)) == {"ada", "ben", "cleo"}
    assert _found(lab, clones)["ada"].entry == "pieces.py"


def test_folders_in_a_folder_are_a_class_where_work_lies_in_them(
    lab: Assignment, tmp_path: Path
) -> None:
    wrapped = written(tmp_path / "x", {"all/ada/pieces.py": WORK, "all/ben/pieces.py": WORK})
    assert set(_found(lab, wrapped)) == {"ada", "ben"}
    one = written(tmp_path / "ada", {"hw06/src/main.txt": b"", "hw06/data/rows.csv": b""})
    assert set(_found(lab, one)) == {"ada"}


def test_hostile_repository_runs_nothing(lab: Assignment, tmp_path: Path) -> None:
    """What its configuration names (hooks, filters, a signature program, a remote) stays quiet."""
    proof = tmp_path / "proof"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\necho $0 >> {proof}\n", "utf-8")
    evil.chmod(0o755)
    ada = tmp_path / "class" / "ada"
    repository(ada, (NOON, {"pieces.py": WORK, ".gitattributes": b"* filter=evil diff=evil\n"}))
    repository(tmp_path / "class" / "ben", (NOON, {"pieces.py": WORK}))
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "gpg.program",
        "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.external",
        "core.alternateRefsCommand", "credential.helper", "pager.rev-list",
        "uploadpack.packObjectsHook",
    ):  # fmt: skip
        downloads._git(ada, "config", key, str(evil))
    for key, value in (
        ("log.showSignature", "true"), ("remote.origin.url", f"ext::{evil}"),
        ("remote.origin.promisor", "true"), ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"), ("core.hooksPath", str(tmp_path)),
    ):  # fmt: skip
        downloads._git(ada, "config", key, value)
    before = sorted((path, path.stat().st_mtime_ns) for path in ada.rglob("*"))
    proof.unlink(missing_ok=True)  # writing the configuration may have run some
    found = _found(_due(lab), tmp_path / "class")
    assert found["ada"].files["pieces.py"] == WORK
    (blob,) = (ada / ".git" / "objects").glob(
        f"{downloads._git(ada, 'rev-parse', 'HEAD:pieces.py')[:2]}/*"
    )
    proof.unlink(missing_ok=True)
    blob.unlink()  # now git would fetch it from the promisor
    missing = _found(_due(lab), tmp_path / "class")["ada"]
    assert missing.problem == "the repository is broken: git cannot read it"
    assert not proof.exists()
    assert sorted((p, p.stat().st_mtime_ns) for p in ada.rglob("*") if p != blob)[:3] == before[:3]


def test_links_and_submodules_of_a_repository(lab: Assignment, tmp_path: Path) -> None:
    ada = tmp_path / "class" / "ada"
    ada.mkdir(parents=True)
    (ada / "secret.txt").symlink_to("/etc/passwd")
    shutil.move(ada / "secret.txt", tmp_path / "secret.txt")
    repository(tmp_path / "class" / "ben", (NOON, {"pieces.py": WORK}))
    ada.rmdir()
    repository(ada, (NOON, {"pieces.py": WORK}))
    shutil.move(tmp_path / "secret.txt", ada / "secret.txt")
    downloads._git(ada, "add", "--all")
    downloads._git(ada, "commit", "--quiet", "--message=link")
    found = _found(lab, tmp_path / "class")["ada"]
    assert set(found.files) == {"pieces.py"}
    assert "left out secret.txt: links are not followed" in found.notices


def test_a_linked_git_folder_is_no_repository(tmp_path: Path) -> None:
    repository(tmp_path / "real", (NOON, {"pieces.py": WORK}))
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / ".git").symlink_to(tmp_path / "real" / ".git")
    assert repos.git_folder(tmp_path / "real") == tmp_path / "real" / ".git"
    assert repos.git_folder(tmp_path / "fake") is None


def test_reading_names_needs_no_content(lab: Assignment, tmp_path: Path) -> None:
    """Recognising a large class reads no file of it."""
    place = places.of_folder(written(tmp_path / "class", {"ada/pieces.py": WORK, "b/x": b""}))
    assert layouts.recognise(lab, place) == "folders"
