"""Pages in other words and looks, and a student's work checked at every save."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from conftest import ROOT
from grader import classlist, keys, live, pages
from grader.assignment import load
from grader.records import AssignmentError, GraderError, Submission
from grader.results import Results
from grader.runner import Runner
from small_course import copy_course

GOLDEN = ROOT / "tests" / "golden" / "cleo"
CLEO = (ROOT / "demo/pieces/cleo/pieces.py").read_text("utf-8")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A results folder with one student."""
    source = (GOLDEN / "submission" / "layers.py").read_bytes()
    grade = replace(pages.stored(GOLDEN), student="cleo")
    with Results(tmp_path, load("layers")) as results:
        results.save(Submission("cleo", {"layers.py": source}, "layers.py"), grade, {}, "d", [])
    for run in grade.runs:
        folder = tmp_path / "layers/cleo/runs"
        folder.mkdir(exist_ok=True)
        body = {"output": run.output, "errors": run.errors}
        (folder / f"{run.case}.json").write_text(json.dumps(body), "utf-8")
    return tmp_path


def _texts(saved: Path) -> list[str]:
    return [(saved / "layers/cleo" / name).read_text("utf-8") for name in pages.NAMES]


def test_pages_written_again_are_the_same(saved: Path) -> None:
    before = _texts(saved)
    with Results(saved, load("layers")) as results:
        assert pages.rewrite(results, load("layers")) == 1
    assert _texts(saved) == before
    assert "layers.py, lines 14 to 26" in before[0]


def test_pages_in_another_language_and_look(saved: Path, tmp_path: Path) -> None:
    looks = tmp_path / "looks"
    looks.mkdir()
    (looks / "style.css").write_text("body { color: rebeccapurple }", "utf-8")
    other = replace(load("layers"), language="de", templates=looks)
    with Results(saved, other) as results:
        pages.rewrite(results, other)
    html, markdown = _texts(saved)
    assert "rebeccapurple" in html
    for text in (html, markdown):
        assert "13.04 von 20 Punkten" in text
        assert "auf anderen Daten als deinen" in text


def test_a_grade_that_cannot_be_read_is_told(saved: Path) -> None:
    path = saved / "layers/cleo/grade.json"
    path.write_text(json.dumps({"version": 0}), "utf-8")
    with (
        Results(saved, load("layers")) as results,
        pytest.raises(GraderError, match="no grade of this version"),
    ):
        pages.rewrite(results, load("layers"))


def test_the_command_pages(saved: Path) -> None:
    words = ["pages", "layers", str(saved), "--language", "de"]
    command = [sys.executable, "-m", "grader"]
    done = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Punkten" in _texts(saved)[0]
    assert "die Klasse" in (saved / "layers/index.html").read_text("utf-8")
    for wrong in (["--language", "xx"], ["--templates", str(saved / "nowhere")]):
        done = subprocess.run(
            [*command, "pages", "layers", str(saved), *wrong],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) <= 3
        assert "Traceback" not in done.stderr


def test_other_words_and_looks_make_another_grade_to_write(tmp_path: Path) -> None:
    """So that grading again with them writes the pages of those who have not changed, too."""
    (tmp_path / "style.css").write_text("body {}", "utf-8")
    plain = load("layers")
    others = [
        replace(plain, language="de"),
        replace(plain, templates=tmp_path),
        replace(plain, disclosure={"views": "message"}),
    ]
    digests = {keys.of_checks(one, {}) for one in (plain, *others)}
    assert len(digests) == 4


# assignment.toml ----------------------------------------------------------------------------------


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    return copy_course(tmp_path)


def _with(course: Path, lines: str) -> None:
    path = course / "assignments/pieces/assignment.toml"
    path.write_text(lines + path.read_text("utf-8"), "utf-8")


def test_disclosure_and_language_are_the_assignments(course: Path) -> None:
    assert dict(load("pieces").disclosure) == {}
    _with(course, 'language = "de"\ndisclosure = {default = "message", words = "all"}\n')
    loaded = load("pieces")
    assert dict(loaded.disclosure) == {"default": "message", "words": "all"}
    assert loaded.language == "de"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('disclosure = {nothing = "all"}', "disclosure.nothing: there is no check test_nothing"),
        ('disclosure = {words = "some"}', "disclosure.words = 'some': input should be 'name'"),
        ('language = "DE"', "language = 'DE'"),
    ],
)
def test_wrong_disclosure_is_told(course: Path, line: str, told: str) -> None:
    _with(course, f"{line}\n")
    with pytest.raises(AssignmentError) as problem:
        load("pieces")
    assert told in str(problem.value)


def test_a_students_copy_need_not_know_the_hidden_checks(course: Path) -> None:
    _with(course, 'disclosure = {only_hidden = "all"}\n')
    assert load("pieces", public=True).disclosure


# Watching -----------------------------------------------------------------------------------------


def _watched(path: Path, runner: Runner, edits: list[tuple[Path, str]]) -> str:
    """What is shown when files are edited one after another."""

    def saves() -> Iterator[object]:
        for file, text in edits:
            file.write_text(text, "utf-8")
            yield file

    stream = io.StringIO()
    console = Console(file=stream, width=200, no_color=True)
    live.watch(load("pieces", public=True), path, runner, console, saves())
    return stream.getvalue()


def test_work_is_checked_again_at_every_save(tmp_path: Path, runner: Runner) -> None:
    file = tmp_path / "pieces.py"
    right = (ROOT / "solutions/pieces/pieces.py").read_text("utf-8")
    shown = _watched(file, runner, [(file, CLEO), (file, "\x1b[2J("), (file, right)])
    parts = shown.split("is watched")
    assert len(parts) == 5
    assert "pieces.py" in parts[0]
    assert "0 of 4 points" not in parts[1]
    assert "SyntaxError" in parts[2]
    assert "4 of 4 points" in parts[3]
    assert "\x1b" not in shown


def test_saves_are_seen_and_others_are_not(tmp_path: Path) -> None:
    file = tmp_path / "pieces.py"
    file.write_text("x = 1\n", "utf-8")
    ended = threading.Event()

    def edit() -> None:
        number = 0
        while not ended.wait(0.3):
            number += 1
            (tmp_path / "notes.txt").write_text(str(number), "utf-8")
            (tmp_path / "other.py").write_text(str(number), "utf-8")
            beside = tmp_path / "pieces.py.new"
            beside.write_text(f"x = {number}\n", "utf-8")
            beside.replace(file)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        changes = next(iter(live.saves(file)))
    finally:
        ended.set()
        editor.join()
    assert isinstance(changes, set)
    assert str(file) in {name for _, name in changes}
    assert not {name for _, name in changes if name.endswith(".txt")}


def test_the_command_watch_redraws_and_ends_at_an_interrupt(tmp_path: Path) -> None:
    file = tmp_path / "pieces.py"
    file.write_text("words = 1\n", "utf-8")
    out = (tmp_path / "shown.txt").open("w+", encoding="utf-8")
    watching = subprocess.Popen(
        [sys.executable, "-m", "grader", "watch", "pieces", str(file)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
        stdout=out,
        stderr=subprocess.STDOUT,
    )
    try:
        assert _wait(tmp_path / "shown.txt", "is watched", 1)
        time.sleep(1)  # until the files are watched
        file.write_text(CLEO, "utf-8")
        assert _wait(tmp_path / "shown.txt", "is watched", 2)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
    finally:
        watching.kill()
        out.close()
    assert "Traceback" not in (tmp_path / "shown.txt").read_text("utf-8")


def _wait(path: Path, text: str, times: int) -> bool:
    """Wait until a text is in a file so often."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        if path.read_text("utf-8").count(text) >= times:
            return True
        time.sleep(0.2)
    return False


def test_classlist_of_the_folder_is_in_its_language(saved: Path) -> None:
    page = classlist.save(saved, replace(load("layers"), language="de"))
    assert '<html lang="de">' in page.read_text("utf-8")
