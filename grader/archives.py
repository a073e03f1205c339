"""Lists the files in a zip or tar archive: `open_archive(stream, name, caps, notices) -> tree`.

An archive is hostile. Nothing of it is written to disk under a name; how many files it lists, how
much it unpacks and how is bounded before it is believed; names that lead outside are left out.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mmap
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from grader import tree
from grader.tree import Item, Refused, Tree

MEGABYTE = 1024**2


@dataclass(frozen=True)
class Caps:
    """What is believed of an archive."""

    members: int  #: files and folders in it
    unpacked: int  #: bytes of a compressed tar, or of an archive in an archive


STUDENT = Caps(members=tree.MAX_SEEN, unpacked=64 * MEGABYTE)
CLASS = Caps(members=200_000, unpacked=2048 * MEGABYTE)

NAMES = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz))$", re.IGNORECASE)
UNREADABLE = re.compile(r"\.(rar|7z|zipx|gz|bz2|xz|zst)$", re.IGNORECASE)

_MAX_RATIO = 200  #: a larger file than this many times its packed size
_MAX_QUIET = 10 * MEGABYTE  #: is a bomb, unless it is as small as this
_MAX_STEP = 255  #: bytes of a name between two slashes, as file systems have it
_MAX_NAME = 1_000  #: bytes of a path
_DIRECTORY = 200  #: bytes that a zip's directory may take for each file
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_XZ_MEMORY = 96 * MEGABYTE
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
    RuntimeError, struct.error, OverflowError, MemoryError, LookupError,
)  # fmt: skip


class _Mapped(mmap.mmap):
    """A file that lasts as long as somebody may read it, and needs no closing."""

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:  # type: ignore[override]
        """Move, and say where to, which `mmap` learns in Python 3.13."""
        super().seek(offset, whence)  # type: ignore[arg-type]
        return self.tell()


def mapped(stream: BinaryIO) -> BinaryIO:
    """An open file's bytes, which can be read when it is closed.

    Raises:
        ValueError: it is empty.
    """
    return _Mapped(stream.fileno(), 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]


def open_archive(stream: BinaryIO, name: str, caps: Caps, notices: list[str]) -> Tree:
    """List an archive; its items can be read as long as the stream is open.

    Args:
        stream: its bytes, seekable.
        name: how to call it in messages.
        caps: what is believed of it.
        notices: told what was left out.

    Raises:
        Refused: it is broken, too large, or no archive that we can open.
    """
    try:
        head = stream.read(512)
        stream.seek(0)
        if head[:2] == b"PK":
            return _zip(stream, name, caps, notices)
        unpacked = _uncompressed(stream, head, name, caps)
        return _tar(unpacked, name, caps, notices)
    except _BROKEN as problem:
        raise _broken(name, problem) from None


def _broken(name: str, problem: BaseException) -> Refused:
    detail = " ".join(str(problem).split())[:100] or type(problem).__name__
    return Refused(f"{name} cannot be opened as a zip or tar archive: {detail}")


@dataclass
class _Left:
    """What was left out of an archive."""

    junk: set[str]
    links: list[str]
    outside: list[str]
    odd: list[str]  #: encrypted, sparse, packed in an unknown way
    clashing: list[str]


def _keep(found: Tree, left: _Left, name: str, item: Item) -> None:
    """Take a member under its name, unless that leads outside or is junk."""
    steps = [step for step in name.replace("\\", "/").split("/") if step not in ("", ".")]
    plain = "/".join(steps)
    data = plain.encode("utf-8", "surrogateescape")
    long = len(data) > _MAX_NAME or any(
        len(step.encode("utf-8", "surrogateescape")) > _MAX_STEP for step in steps
    )
    absolute = name[:1] in ("/", "\\") or re.match("[A-Za-z]:", name)
    if absolute or ".." in steps or long or "\0" in plain or len(steps) > tree.MAX_DEPTH:
        left.outside.append(plain[:80])
    elif tree.hidden(plain):
        left.junk |= tree.JUNK & set(steps)
    elif steps:
        if plain in found:
            left.clashing.append(plain)
        found[plain] = item


def _told(found: Tree, left: _Left, notices: list[str]) -> Tree:
    """Say what was left out; where a file and a folder have one name, the file goes."""
    folders = {name[:at] for name in found for at, sign in enumerate(name) if sign == "/"}
    for name in sorted(folders & set(found)):
        left.clashing.append(name)
        del found[name]
    tree.tell(notices, sorted(left.junk), left.links)
    if left.outside:
        notices.append(f"left out {tree.listed(left.outside)}: such a name leads outside")
    if left.odd:
        notices.append(f"left out {tree.listed(left.odd)}: it is encrypted or oddly packed")
    if left.clashing:
        names = tree.listed(sorted(set(left.clashing)))
        notices.append(f"{names}: there more than once, the last one is taken")
    return found


# Zip ----------------------------------------------------------------------------------------------


def _zip(stream: BinaryIO, name: str, caps: Caps, notices: list[str]) -> Tree:
    if _directory_size(stream) > caps.members * _DIRECTORY:
        raise Refused(f"{name} holds more than {caps.members:,} files")
    stream.seek(0)
    archive = zipfile.ZipFile(stream)
    members = archive.infolist()
    if len(members) > caps.members:
        raise Refused(f"{name} holds more than {caps.members:,} files")
    found: Tree = {}
    left = _Left(set(), [], [], [], [])
    for info in members:
        if info.is_dir():
            continue
        inside = _name(info)
        if stat.S_ISLNK(info.external_attr >> 16):
            left.links.append(inside)
        elif info.flag_bits & 1 or info.compress_type not in _METHODS:
            left.odd.append(inside)
        else:
            read = partial(_read_zip, archive, info, name)
            _keep(found, left, inside, Item(info.file_size, read))
    return _told(found, left, notices)


def _directory_size(stream: BinaryIO) -> int:
    """Bytes of a zip's directory before anything parses it: the most that any end of it says."""
    end = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, end - 65_536 - 22 - 20))
    tail = stream.read()
    sizes = [0]
    for found in re.finditer(b"PK\5\6", tail):
        at = found.start()
        size = int.from_bytes(tail[at + 12 : at + 16], "little")
        sizes.append(0 if size == 0xFFFFFFFF else size)
        locator = tail[max(0, at - 20) : at]
        where = int.from_bytes(locator[8:16], "little")
        if locator[:4] == b"PK\6\7" and where < end:  # zip64: where a larger end lies
            stream.seek(where)
            sizes.append(int.from_bytes(stream.read(56)[40:48], "little"))
    return max(sizes)


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name; many archives hold UTF-8 without saying so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _read_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limit: int) -> bytes:
    if info.file_size > max(_MAX_QUIET, _MAX_RATIO * info.compress_size):
        raise Refused(f"{name} is a bomb: {_name(info)} would unpack to {info.file_size:,} bytes")
    try:
        with archive.open(info) as member:
            return member.read(limit)
    except _BROKEN as problem:
        raise _broken(name, problem) from None


# Tar ----------------------------------------------------------------------------------------------


def _tar(stream: BinaryIO, name: str, caps: Caps, notices: list[str]) -> Tree:
    found: Tree = {}
    left = _Left(set(), [], [], [], [])
    archive = tarfile.open(fileobj=stream, mode="r:", errorlevel=0)  # noqa: SIM115 - read later
    for count, member in enumerate(archive, start=1):
        if count > caps.members:
            raise Refused(f"{name} holds more than {caps.members:,} files")
        if member.issym() or member.islnk():
            left.links.append(member.name)
        elif member.issparse():
            left.odd.append(member.name)
        elif member.isreg():
            read = partial(_read_tar, stream, member.offset_data, member.size)
            _keep(found, left, member.name, Item(member.size, read))
    return _told(found, left, notices)


def _read_tar(stream: BinaryIO, start: int, size: int, limit: int) -> bytes:
    stream.seek(start)
    return stream.read(min(size, limit))


def _uncompressed(stream: BinaryIO, head: bytes, name: str, caps: Caps) -> BinaryIO:
    """A tar's bytes; where they are packed, unpacked into a file without a name, up to a cap."""
    if head[:2] == b"\x1f\x8b":
        pieces = _pieces(gzip.GzipFile(fileobj=stream))
    elif head[:3] == b"BZh":
        pieces = _pieces(bz2.BZ2File(stream))
    elif head[:6] == b"\xfd7zXZ\0":
        pieces = _xz(stream)
    elif head[257:262] == b"ustar":
        return stream
    else:
        raise Refused(f"{name} is neither a zip nor a tar archive; hand in a zip")
    size = 0
    with tempfile.TemporaryFile() as out:
        for piece in pieces:
            size += len(piece)
            if size > caps.unpacked:
                raise Refused(f"{name} would unpack to more than {caps.unpacked // MEGABYTE} MB")
            out.write(piece)
        out.flush()
        return mapped(out)


def _pieces(stream: gzip.GzipFile | bz2.BZ2File) -> Iterator[bytes]:
    while piece := stream.read(MEGABYTE):
        yield piece


def _xz(stream: BinaryIO) -> Iterator[bytes]:
    """Unpack with a bound on memory, which `lzma.LZMAFile` does not have."""
    engine = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
    while not engine.eof:
        data = stream.read(65_536) if engine.needs_input else b""
        if engine.needs_input and not data:
            raise EOFError("it ends too early")
        yield engine.decompress(data, MEGABYTE)
