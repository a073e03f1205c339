"""The round trip: one column is filled in, every other byte of the instructor's file is kept."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.export import Graded
from grader.export.gradebook import Filled, canvas, moodle
from grader.export.sheet import cells
from grader.records import GraderError

NAMES = [
    'O\'Neil, "Bud"', "Lovelace, Ada", "李 小龙", "Nuñez; José", "Ødegård\tMarte", "=SUM(A1)",
    "Müller, Jürgen", "عمر", "Two\nLines", "  Spaced  ", "Ünal, Ömer 😀",
]  # fmt: skip


def _graded(student: str, points: float, possible: float = 10, **ids: str) -> Graded:
    grade = {"student": student, "points": points, "possible": possible, "assignment": "pieces",
             "ids": ids}  # fmt: skip
    return Graded(grade, "pieces.py", "")


def _table(rows: list[list[str]], end: str = "\r\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return stream.getvalue()


def canvas_rows(count: int) -> list[list[str]]:
    """A gradebook as Canvas exports it, with rows and columns that are none of ours."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Essay (77)",
            "pieces (4711)", "Assignments Current Score", "Final Grade"]  # fmt: skip
    rows = [
        head,
        ["", "", "", "", "", "Manual Posting", "", "", ""],
        ["    Points Possible", "", "", "", "", "100", "10.0", "(read only)", "(read only)"],
    ]
    for n in range(count):
        name = f"{NAMES[n % len(NAMES)]} {n}"
        rows.append(
            [name, str(1000 + n), f"S{n:04}", f"login{n}", 'NLP, "A"', "12.5", "", "8,5", ""]
        )
    return [*rows, ["Student, Test", "99999", "", "abc", "NLP", "", "", "", ""]]


def moodle_rows(count: int) -> list[list[str]]:
    """A worksheet as Moodle exports it."""
    head = ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade",
            "Maximum Grade", "Grade can be changed", "Last modified (submission)",
            "Last modified (grade)", "Feedback comments"]  # fmt: skip
    return [head, *(
        [f"Participant {2000 + n}", f"{NAMES[n % len(NAMES)]} {n}", f"M{n}", f"s{n}@example.org",
         "Submitted for grading", "" if n % 3 else "1.00", "10.00", "Yes",
         "Thursday, 1 October 2026, 5:00 PM", "-", 'Good, but "odd"\nSecond line']
        for n in range(count)
    )]  # fmt: skip


KINDS: dict[str, tuple[Callable[..., Filled], Callable[[int], list[list[str]]], int, str, int]] = {
    "canvas": (canvas, canvas_rows, 6, "canvas", 1000),
    "moodle": (moodle, moodle_rows, 5, "moodle", 2000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_300_rows_come_back_equal_but_for_one_column(
    tmp_path: Path, kind: str, encoding: str, end: str, quoting: int
) -> None:
    fill, rows_of, column, system, first = KINDS[kind]
    rows = rows_of(300)
    path = tmp_path / "book.csv"
    before = _table(rows, end, quoting).encode(encoding)
    path.write_bytes(before)
    rng = random.Random(7)
    grades = [
        _graded(f"s{n}", rng.choice([0, 10, 7.5, 1 / 3, 9.999]), **{system: str(first + n)})
        for n in range(0, 300, 2)
    ]
    rng.shuffle(grades)
    filled = fill(path, grades)
    assert filled.count == 150
    assert filled.students == []
    assert len(filled.rows) == len(rows) - (3 if kind == "canvas" else 1) - 150
    after = list(csv.reader(io.StringIO(filled.data.decode("utf-8-sig"), newline="")))
    points = {str(first + n): grade for n, grade in ((int(g.student[1:]), g) for g in grades)}
    for old, new in zip(rows, after, strict=True):
        assert [c for at, c in enumerate(new) if at != column] == [
            c for at, c in enumerate(old) if at != column
        ]
        number = old[1] if kind == "canvas" else old[0].removeprefix("Participant ")
        if number in points:
            assert float(new[column]) == pytest.approx(points[number].grade["points"], abs=0.006)
        else:
            assert new[column] == old[column]
    path.write_bytes(filled.data)  # with the old cells put back, the file is the old one
    assert _restored(before, filled.data, column) == before
    assert filled.data.startswith(b"\xef\xbb\xbf") == (encoding == "utf-8-sig")
    assert path.read_bytes() == fill(path, grades).data


def _restored(before: bytes, after: bytes, column: int) -> bytes:
    """The new file with the column's bytes taken from the old one."""
    data, shift = bytearray(after), 0
    for old, new in zip(cells(before), cells(after), strict=True):
        if column < len(old):
            piece = before[old[column].start : old[column].end]
            data[new[column].start + shift : new[column].end + shift] = piece
            shift += len(piece) - (new[column].end - new[column].start)
    return bytes(data)


_CELL = st.text(st.sampled_from("ab,;\"'\n\r\t é李=1 "), max_size=6)


@given(
    st.lists(st.lists(_CELL, min_size=2, max_size=4), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_cells_are_those_that_csv_reads(
    rows: list[list[str]], end: str, quoting: int, mark: bool
) -> None:
    text = _table(rows, end, quoting)
    data = text.encode("utf-8-sig" if mark else "utf-8")
    found = cells(data)
    read = csv.reader(io.StringIO(text, newline=""))
    assert [[cell.text for cell in row] for row in found] == [
        row for row in read if any(row[:1]) or len(row) > 1
    ]
    for row in found:
        for cell, next_one in pairwise(row):
            assert data[cell.end : next_one.start] == b","


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_cut_without_loss(data: bytes) -> None:
    spans = [(cell.start, cell.end) for row in cells(data) for cell in row]
    assert spans == sorted(spans)
    kept = b"".join(data[start:end] for start, end in spans)
    rest = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    assert (
        len(rest) - len(kept)
        == sum(
            rest[start:end].count(sign)
            for sign in (b",", b"\n", b"\r")
            for start, end in _gaps(data, spans)
        )
        or not rest
    )


def _gaps(data: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    edges = [(0, 3 if data.startswith(b"\xef\xbb\xbf") else 0), *spans, (len(data), len(data))]
    shift = edges[0][1]
    return [(end - shift, start - shift) for (_, end), (start, _) in pairwise(edges)]


# Who is who ---------------------------------------------------------------------------------------


def _book(tmp_path: Path, *rows: list[str], kind: str = "canvas") -> Path:
    head = canvas_rows(0)[:3] if kind == "canvas" else moodle_rows(0)
    path = tmp_path / "book.csv"
    path.write_text(_table([*head, *rows], "\n"), "utf-8", newline="")
    return path


def _row(name: str, number: str, sis: str = "", login: str = "") -> list[str]:
    return [name, number, sis, login, "", "", "", "", ""]


def _cells(filled: Filled, column: int = 6) -> list[str]:
    return [row[column].text for row in cells(filled.data)][3:]


@pytest.mark.parametrize(
    "graded",
    [
        _graded("lovelaceada_1001", 7, canvas="1001"),
        _graded("ada", 7),
        _graded("S1", 7),
        _graded("1001", 7),
        _graded("Lovelace, Ada", 7),
        _graded("someone", 7, email="ADA"),
        _graded("someone", 7, canvas_id="1001"),
    ],
)
def test_canvas_knows_students_by_many_names(tmp_path: Path, graded: Graded) -> None:
    path = _book(tmp_path, _row("Lovelace, Ada", "1001", "S1", "ada"), _row("B", "2", "S2", "ben"))
    filled = canvas(path, [graded])
    assert _cells(filled) == ["7", ""]
    assert (filled.rows, filled.students) == (["B"], [])


@pytest.mark.parametrize(
    "graded",
    [
        [_graded("x", 7, canvas="1002")],  # another's number, though the names are the same
        [_graded("y", 7, moodle="1001")],  # another system's number
        [_graded("y", 7, github="1001", commit="1001")],
        [_graded("a", 7, canvas="1001"), _graded("b", 8, canvas="1001")],
    ],
)
def test_nothing_is_guessed(tmp_path: Path, graded: list[Graded]) -> None:
    path = _book(tmp_path, _row("x", "1001", "S1", "x"))
    filled = canvas(path, graded)
    assert filled.data == path.read_bytes()
    assert filled.rows == ["x"]
    assert filled.students == [each.student for each in graded]


def test_namesakes_are_told_apart_or_left_alone(tmp_path: Path) -> None:
    rows = [_row("Lovelace, Ada", "1001"), _row("Lovelace, Ada", "1002")]
    path = _book(tmp_path, *rows)
    assert _cells(canvas(path, [_graded("Lovelace, Ada", 7)])) == ["", ""]
    one = canvas(path, [_graded("a", 7, canvas="1002", name="Lovelace, Ada")])
    assert _cells(one) == ["", "7"]
    assert one.rows == ["Lovelace, Ada"]


def test_moodle_matches_by_participant_email_number_or_name(tmp_path: Path) -> None:
    rows = moodle_rows(4)[1:]
    path = _book(tmp_path, *rows, kind="moodle")
    grades = [
        _graded("x", 1, moodle="2000", name="somebody"), _graded("S1@EXAMPLE.org", 2),
        _graded("M2", 3), _graded(rows[3][1], 4),
    ]  # fmt: skip
    filled = moodle(path, grades)
    assert [row[5].text for row in cells(filled.data)][1:] == ["1", "2", "3", "4"]


def test_grades_that_cannot_be_changed_are_left(tmp_path: Path) -> None:
    rows = moodle_rows(2)[1:]
    rows[0][7] = "No"
    filled = moodle(_book(tmp_path, *rows, kind="moodle"), [_graded("x", 1, moodle="2000")])
    assert filled.count == 0
    assert "cannot be changed" in filled.rows[0]
    assert filled.students == []


# Columns and numbers ------------------------------------------------------------------------------


def test_numbers_are_written_as_the_file_writes_them(tmp_path: Path) -> None:
    rows = moodle_rows(2)[1:]
    for row in rows:
        row[6] = "10,00"
    filled = moodle(_book(tmp_path, *rows, kind="moodle"), [_graded("x", 7.25, moodle="2000")])
    assert b'"7,25"' in filled.data
    assert cells(filled.data)[1][5].text == "7,25"


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(tmp_path: Path, separator: str) -> None:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(moodle_rows(3))
    path = tmp_path / "book.csv"
    path.write_text(stream.getvalue(), "utf-8", newline="")
    filled = moodle(path, [_graded("x", 7.25, moodle="2001")])
    rows = list(csv.reader(io.StringIO(filled.data.decode(), newline=""), delimiter=separator))
    assert rows[2][5] == "7.25"
    assert filled.count == 1


def test_western_encoding_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    rows = [*moodle_rows(0), ["Participant 2000", "Jürgen", *[""] * 4, "10", "Yes", "", "", "für"]]
    path.write_bytes(_table(rows).encode("cp1252"))
    filled = moodle(path, [_graded("Jürgen", 5)])
    assert filled.count == 1
    assert filled.data.decode("cp1252").endswith(",5,10,Yes,,,für\r\n")


def _fails(fill: Callable[..., Filled], path: Path, sentence: str, **options: Any) -> None:
    with pytest.raises(GraderError, match=sentence) as caught:
        fill(path, [_graded("x", 5, canvas="1000", moodle="2000")], **options)
    assert str(path) in str(caught.value)


def test_maximum_that_is_another(tmp_path: Path) -> None:
    rows = canvas_rows(1)
    rows[2][6] = "100"
    path = tmp_path / "book.csv"
    path.write_text(_table(rows), "utf-8", newline="")
    _fails(canvas, path, "maximum is 100, the lab gives 10: set it there, or say --scale")
    assert _cells(canvas(path, [_graded("x", 5, canvas="1000")], scale=True))[0] == "50"


def test_columns_are_named_or_clear(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_text(_table(canvas_rows(1)), "utf-8", newline="")
    grades = [_graded("x", 5, canvas="1000")]
    for name in ("pieces", "Pieces (4711)"):
        assert _cells(canvas(path, grades, name))[0] == "5"
    _fails(canvas, path, r"the column 'layers' is not there; there are Essay \(77\), pieces",
           column="layers")  # fmt: skip
    _fails(canvas, path, "takes no points: its maximum is", column="Final Grade")
    _fails(moodle, path, "no worksheet of Moodle")
    path.write_text(_table(moodle_rows(1)), "utf-8", newline="")
    _fails(canvas, path, "no gradebook of Canvas")
    path.write_text(_table(moodle_rows(1)), "utf-16")
    _fails(moodle, path, "in UTF-16; export it as CSV in UTF-8")
    path.write_bytes(b"")
    _fails(moodle, path, "there is nothing in it")
