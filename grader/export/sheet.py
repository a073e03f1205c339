"""A CSV file as the bytes that it is, with where each cell stands: `read(path) -> data, rows`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.records import GraderError


@dataclass(frozen=True)
class Cell:
    """A cell of a CSV file."""

    start: int  #: where it begins in the file's bytes
    end: int  #: and where it ends
    text: str  #: what it holds


def read(path: Path) -> tuple[bytes, list[list[Cell]]]:
    """The file's bytes and its cells.

    Raises:
        GraderError: it cannot be read, or is no table.
    """
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise GraderError(f"{path}: {problem.strerror}") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise GraderError(f"{path}: in UTF-16; export it as CSV in UTF-8")
    first = data.split(b"\n", 1)[0]
    separator = max(b",;\t", key=lambda sign: first.count(bytes([sign])))
    table = cells(data, bytes([separator]))
    if not table:
        raise GraderError(f"{path}: there is nothing in it")
    return data, table


def cells(data: bytes, separator: bytes = b",") -> list[list[Cell]]:
    """Where the cells of a CSV file stand, row by row; lines without any are left out.

    The signs that matter are single bytes in UTF-8 and in Western encodings alike, and part of no
    other sign there.
    """
    encoding = _encoding(data)
    rows: list[list[Cell]] = []
    row: list[Cell] = []
    pattern = re.compile(
        rb'(?P<quoted>"(?:[^"]|"")*"[^%b\r\n]*)|(?P<plain>[^%b\r\n]*)' % (separator, separator)
    )
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while at <= len(data):
        found = pattern.match(data, at)
        end = found.end() if found else at
        row.append(Cell(at, end, _text(data[at:end].decode(encoding))))
        at = end + 1
        if data[end : end + 1] == separator:
            continue
        if len(row) > 1 or row[0].text:
            rows.append(row)
        row = []
        if data[end : end + 2] == b"\r\n":
            at += 1
        if at >= len(data):
            break
    return rows


def _encoding(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252" if not re.search(b"[\x81\x8d\x8f\x90\x9d]", data) else "latin-1"
    return "utf-8"


def _text(raw: str) -> str:
    quoted = re.match(r'"((?:[^"]|"")*)"', raw)
    if quoted is None:
        return raw
    return quoted[1].replace('""', '"') + raw[quoted.end() :]


def texts(row: Sequence[Cell]) -> list[str]:
    """What a row's cells hold."""
    return [cell.text for cell in row]


def as_written(data: bytes, cell: Cell, value: str) -> bytes:
    """A value quoted as the cell was, and where it must be."""
    quoted = data[cell.start : cell.end].startswith(b'"') or "," in value
    return f'"{value}"'.encode() if quoted else value.encode()
