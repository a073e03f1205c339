"""Results on disk: runs come back as they were, files are whole or as before, JSON is JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import codec, files, store
from grader.codec import WireError
from grader.records import Check, Grade, Run
from test_codec import mutants, same, values

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True)
texts = st.text()
maybe = st.none() | texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("runs")


def _grade(**fields: Any) -> Grade:
    run = Run("public", "ok", None, {"a": 1}, seconds=3.14159, memory_mb=240.04)
    check = Check(
        "views", "views", 5.0, 4.0, "partial", "public", False, "Views.", "31 off", "Look"
    )
    grade = Grade("layers", "ada", 4.0, 20.0, False, ("a notice",), (run,), (check,))
    return replace(grade, **fields)


def _strict(text: str) -> Any:
    """JSON as a strict reader takes it: no NaN, no Infinity."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


# Runs ---------------------------------------------------------------------------------------------


@PROPERTY
@given(
    st.dictionaries(texts, values, max_size=3),
    st.dictionaries(texts, texts, max_size=3),
    maybe,
    texts,
    st.lists(texts, max_size=2),
    st.floats(0, 1e9),
)
def test_run_round_trips(
    folder: Path,
    answers: dict[str, Any],
    faults: dict[str, str],
    message: str | None,
    output: str,
    notices: list[str],
    seconds: float,
) -> None:
    run = Run(
        "public", "error", message, answers, faults, output, output[::-1], seconds, seconds / 2,
        seconds / 3, tuple(notices),
    )  # fmt: skip
    store.save_run(folder / "public", run)
    _strict((folder / "public.json").read_text("utf-8"))
    loaded = store.load_run(folder / "public")
    assert same(dict(loaded.values), answers)
    assert replace(loaded, values={}) == replace(run, values={})


def test_run_of_nothing_round_trips(tmp_path: Path) -> None:
    run = Run("public", "missing", "no such file")
    store.save_run(tmp_path / "public", run)
    assert store.load_run(tmp_path / "public") == run


@pytest.mark.parametrize("status", ["ok", "timeout", "memory", "crashed", "output", "blocked"])
def test_every_status_round_trips(tmp_path: Path, status: Any) -> None:
    store.save_run(tmp_path / "public", Run("public", status, None))
    assert store.load_run(tmp_path / "public").status == status


def test_value_as_deep_as_the_wire_lets_through_is_saved(tmp_path: Path) -> None:
    deep: Any = torch.ones(1)
    for _ in range(codec.MAX_DEPTH):
        deep = [deep]
    ((header, payload),) = codec.FrameReader().feed(codec.pack({}, value=deep))
    run = Run("public", "ok", None, {"p": codec.decode(header["value"], payload)})
    store.save_run(tmp_path / "public", run)
    assert same(store.load_run(tmp_path / "public").values["p"], deep)


def test_whatever_the_wire_lets_through_is_saved(tmp_path: Path) -> None:
    """A hostile value that is read without a complaint must not fail later, in our own files."""
    saved = 0
    for data in mutants(1000, seed=2):
        try:
            frames = [codec.decode(h.get("value"), p) for h, p in codec.FrameReader().feed(data)]
        except WireError:
            continue
        for value in frames:
            store.save_run(tmp_path / "public", Run("public", "ok", None, {"p": value}))
            assert type(store.load_run(tmp_path / "public").values["p"]) is type(value)
            saved += 1
    assert saved > 50


def test_surrogates_do_no_harm(tmp_path: Path) -> None:
    text = "half \ud800 of a character"
    run = Run("public", "ok", text, {"a": text}, {"b": text}, text, text, notices=(text,))
    check = replace(_grade().checks[0], message=text)
    grade = _grade(student="ren\udce9", runs=(run,), checks=(check,), notices=(text,))
    store.save_grade(tmp_path, grade, {"text": text})
    store.save_run(tmp_path / "runs" / "public", run)
    assert store.load_run(tmp_path / "runs" / "public").output == text
    for path in tmp_path.rglob("*.json"):
        _strict(path.read_text("utf-8"))
    files.write(tmp_path / "page.html", text)
    assert (tmp_path / "page.html").read_text("utf-8") == "half ? of a character"


DAMAGED = {
    "empty": b"",
    "cut": b'{"case": "public", "sta',
    "not utf-8": b'{"case": "\xff"}',
    "list": b"[]",
    "null": b"null",
    "object": b"{}",
    "no notices": b'{"case": "a", "status": "ok", "message": null, "values": {"dict": []}}',
    "no case": b'{"status": "ok", "message": null, "values": {"dict": []}, "notices": []}',
    "a field more": b'{"case": "a", "status": "ok", "message": null, "values": {"dict": []}, '
    b'"notices": [], "of_another_version": 1}',
    "values no dict": b'{"case": "a", "status": "ok", "message": null, "values": 1, "notices": []}',
    "values of no form": b'{"case": "a", "status": "ok", "message": null, "values": {"b": 1}, '
    b'"notices": []}',
    "tensor not there": b'{"case": "a", "status": "ok", "message": null, '
    b'"values": {"dict": [["a", {"tensor": "7"}]]}, "notices": []}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_run_is_told_as_such(tmp_path: Path, what: str) -> None:
    """So that a run kept by another version is made again, instead of ending the command."""
    store.save_run(tmp_path / "public", Run("public", "ok", None, {"a": torch.ones(2)}))
    (tmp_path / "public.json").write_bytes(DAMAGED[what])
    with pytest.raises((OSError, ValueError, WireError)):
        store.load_run(tmp_path / "public")


@pytest.mark.parametrize("damage", [b"", b"x" * 50, bytes(8)])
def test_damaged_tensors_are_told_as_such(tmp_path: Path, damage: bytes) -> None:
    store.save_run(tmp_path / "public", Run("public", "ok", None, {"a": torch.ones(2)}))
    (tmp_path / "public.safetensors").write_bytes(damage)
    with pytest.raises((OSError, ValueError, WireError)):
        store.load_run(tmp_path / "public")
    (tmp_path / "public.safetensors").unlink()
    with pytest.raises(OSError, match="public"):
        store.load_run(tmp_path / "public")


# Writing ------------------------------------------------------------------------------------------


def test_write_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "grade.json"
    for content in ("old", "new é", b"\x00\xff"):
        files.write(path, content)
        assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
        assert _files(tmp_path) == ["grade.json"]
    assert path.stat().st_mode & 0o777 == 0o644


class _Stopped(BaseException):
    """As a KeyboardInterrupt would come, at any moment."""


def _stop(*_: object, **__: object) -> NoReturn:
    raise _Stopped


@pytest.mark.parametrize("moment", ["os.fdopen", "pathlib.Path.chmod", "pathlib.Path.replace"])
def test_write_that_is_stopped_leaves_the_old_file_alone(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grade.json"
    files.write(path, "old")
    with monkeypatch.context() as patch:
        patch.setattr(moment, _stop)
        with pytest.raises(_Stopped):
            files.write(path, "new")
    assert path.read_text("utf-8") == "old"
    assert _files(tmp_path) == ["grade.json"]


def test_content_that_cannot_be_written_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "grade.json"
    files.write(path, "old")
    with pytest.raises(TypeError):
        files.write(path, ["no", "bytes"])  # type: ignore[arg-type]
    assert path.read_text("utf-8") == "old"
    assert _files(tmp_path) == ["grade.json"]


def test_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "grade.json").mkdir()
    with pytest.raises(OSError, match=r"grade\.json"):
        files.write(tmp_path / "grade.json", "new")
    assert _files(tmp_path) == []


# Grades -------------------------------------------------------------------------------------------

GRADE_FIELDS = {
    "version", "assignment", "student", "points", "possible", "review", "late", "penalty",
    "handed_in", "ids", "digest", "tier", "notices",
    "runs", "checks",
}  # fmt: skip
RUN_FIELDS = {"case", "status", "seconds", "memory_mb", "message"}
CHECK_FIELDS = {
    "name", "part", "points", "earned", "status", "case", "hidden", "message", "hint", "mistake",
    "asked", "diagnosis", "probes", "allowed", "guarded", "compared", "series",
}  # fmt: skip


def test_grade_has_exactly_the_fields_of_version_1(tmp_path: Path) -> None:
    store.save_grade(tmp_path, _grade(), {})
    content = _strict((tmp_path / "grade.json").read_text("utf-8"))
    assert content["version"] == 1
    assert set(content["runs"][0]) == RUN_FIELDS
    assert set(content["checks"][0]) == CHECK_FIELDS
    assert set(content) == GRADE_FIELDS


def test_grade_as_it_is_on_disk(tmp_path: Path) -> None:
    store.save_grade(tmp_path, _grade(late=2.5, review=True), {"tests": []})
    assert _files(tmp_path) == ["grade.json", "report.json"]
    content = _strict((tmp_path / "grade.json").read_text("utf-8"))
    assert content["late"] == 2.5
    assert content["review"] is True
    assert content["notices"] == ["a notice"]
    assert content["runs"] == [
        {"case": "public", "status": "ok", "seconds": 3.142, "memory_mb": 240.0, "message": None}
    ]
    (check,) = content["checks"]
    assert (check["earned"], check["points"], check["status"]) == (4.0, 5.0, "partial")
    assert (check["hint"], check["message"], check["mistake"]) == ("Look", "31 off", None)


def test_points_are_not_rounded_on_disk() -> None:
    third = 20 / 3
    assert store.grade_as_json(_grade(points=third))["points"] == third


def test_nan_among_values_is_no_nan_in_json(tmp_path: Path) -> None:
    answers = {"a": math.nan, "b": [math.inf, -math.inf], "c": torch.tensor([math.nan])}
    run = Run("public", "ok", None, answers)
    store.save_run(tmp_path / "runs" / "public", run)
    for path in tmp_path.rglob("*.json"):
        _strict(path.read_text("utf-8"))
    assert same(dict(store.load_run(tmp_path / "runs" / "public").values), answers)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda grade: (replace(grade, points=math.nan), {}),
        lambda grade: (replace(grade, late=math.inf), {}),
        lambda grade: (replace(grade, runs=(replace(grade.runs[0], memory_mb=math.nan),)), {}),
        lambda grade: (replace(grade, checks=(replace(grade.checks[0], earned=math.nan),)), {}),
        lambda grade: (grade, {"duration": math.nan}),
    ],
)
def test_nan_of_our_own_is_refused_and_the_old_files_stay(
    tmp_path: Path, spoil: Callable[[Grade], tuple[Grade, dict[str, Any]]]
) -> None:
    store.save_grade(tmp_path, _grade(), {})
    before = {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)}
    with pytest.raises(ValueError, match="JSON"):
        store.save_grade(tmp_path, *spoil(_grade()))
    assert {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)} == before


RUN = Run("public", "ok", None, {"a": [1, '"seconds": ']}, {"b": "why"}, '"seconds": 1', "errors")
OTHERS = {
    "case": "hidden", "status": "error", "message": "m", "values": {"a": [2]}, "faults": {},
    "output": "", "errors": "",
}  # fmt: skip
UNSEEN = {
    "seconds": 2.0, "cpu_seconds": 2.0, "memory_mb": 2.0, "notices": ('"seconds": ',),
    "tier": "full", "submission": "s", "world": "w",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_checks_can_see_changes_the_digest(name: str) -> None:
    assert store.seen(replace(RUN, **{name: OTHERS[name]})) != store.seen(RUN)


@pytest.mark.parametrize("name", UNSEEN)
def test_what_checks_cannot_see_does_not(name: str) -> None:
    assert store.seen(replace(RUN, **{name: UNSEEN[name]})) == store.seen(RUN)


def test_every_field_is_seen_or_not() -> None:
    assert {*OTHERS, *UNSEEN} == {field.name for field in fields(Run)} - {"packed"}


def test_tensors_are_seen() -> None:
    one, other = ({"t": torch.tensor([number])} for number in (1.0, 2.0))
    assert store.seen(replace(RUN, values=one)) != store.seen(replace(RUN, values=other))


def test_a_changed_run_is_not_stored_as_it_was(tmp_path: Path) -> None:
    run = store.from_pair(*store.as_pair(RUN))
    assert run.packed == store.as_pair(RUN)
    store.save_run(tmp_path / "run", replace(run, values={"a": 3}))
    assert store.load_run(tmp_path / "run").values == {"a": 3}
