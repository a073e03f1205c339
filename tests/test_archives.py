"""Hostile and clumsy archives: refused or tidied, in 5 seconds and 200 MB."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from downloads import WORK, tarred, written, zipped
from grader.archives import STUDENT, open_archive
from grader.assignment import load
from grader.collect import collect
from grader.records import Submission
from grader.tree import MAX_SEEN, Refused

MAX_SECONDS = 5.0
MAX_MEMORY_MB = 200


def _collected(tmp_path: Path, data: bytes, name: str = "ada.zip") -> Submission:
    path = tmp_path / name
    path.write_bytes(data)
    return collect(load("pieces"), path)


# What students pack -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pack",
    [zipped, lambda files: zipped(files, compression=zipfile.ZIP_BZIP2), tarred,
     lambda files: tarred(files, "w"), lambda files: tarred(files, "w:bz2"),
     lambda files: tarred(files, "w:xz")],
    ids=["zip", "zip by bzip2", "tar.gz", "tar", "tar.bz2", "tar.xz"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["ada.zip", "ada.tar.gz", "ada.tgz"])
def test_every_kind_whatever_its_name(
    tmp_path: Path, pack: Callable[[dict[str, bytes]], bytes], name: str
) -> None:
    files = {"hw06/pieces.py": WORK, "hw06/helpers.py": b"x", "hw06/data/rows.csv": b"1,2\n"}
    found = _collected(tmp_path, pack(files), name)
    assert found.student == "ada"
    assert found.entry == "pieces.py"
    assert found.files == {"pieces.py": WORK, "helpers.py": b"x", "data/rows.csv": b"1,2\n"}
    assert found.notices == ("took the files out of the folder hw06",)


def test_nested_archives_to_a_depth(tmp_path: Path) -> None:
    data = zipped({"pieces.py": WORK})
    for depth in range(1, 6):
        data = zipped({f"level{depth}.zip": data})
        found = _collected(tmp_path, data)
        if depth <= 3:
            assert found.entry == "pieces.py"
            assert sum("opened" in notice for notice in found.notices) == depth
        else:
            assert found.problem is not None
            assert "too many archives in archives; hand in one zip" in found.problem


def test_archive_beside_the_work_stays_shut(tmp_path: Path) -> None:
    found = _collected(tmp_path, zipped({"pieces.py": WORK, "old.zip": b"no zip"}))
    assert set(found.files) == {"pieces.py", "old.zip"}


def test_old_names_in_utf8_without_the_flag(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        for name in ("pieces.py", "größe.py", "日本.py"):
            out.writestr(name, WORK)
    data = stream.getvalue()
    for offset in [i for i in range(len(data)) if data[i : i + 4] in (b"PK\3\4", b"PK\1\2")]:
        at = offset + (6 if data[offset + 2] == 3 else 8)
        flags = int.from_bytes(data[at : at + 2], "little") & ~0x800
        data = data[:at] + flags.to_bytes(2, "little") + data[at + 2 :]
    assert set(_collected(tmp_path, data).files) == {"pieces.py", "größe.py", "日本.py"}


def test_windows_slashes(tmp_path: Path) -> None:
    found = _collected(tmp_path, zipped({"hw06\\pieces.py": WORK, "hw06\\sub\\x.py": b""}))
    assert set(found.files) == {"pieces.py", "sub/x.py"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "ada.zip is empty"),
        (
            b"Rar!\x1a\x07\x00 and so on",
            "ada.zip is neither a zip nor a tar archive; hand in a zip",
        ),
        (b"PK\x03\x04 cut off", "ada.zip cannot be opened as a zip or tar archive"),
        (gzip.compress(b"hello" * 200), "ada.zip cannot be opened as a zip or tar archive"),
        (tarred({"pieces.py": WORK})[:-20], "ada.zip cannot be opened as a zip or tar archive"),
    ],
)
def test_what_is_no_archive(tmp_path: Path, data: bytes, sentence: str) -> None:
    found = _collected(tmp_path, data)
    assert found.entry is None
    assert found.problem is not None
    assert found.problem.startswith(sentence)
    assert "\n" not in found.problem


def test_rar_beside_nothing_is_told(tmp_path: Path) -> None:
    written(tmp_path / "ada", {"work.rar": b"Rar!"})
    problem = collect(load("pieces"), tmp_path / "ada").problem
    assert problem == (
        "expected pieces.py, found work.rar; only zip and tar archives can be opened"
    )


def test_another_labs_work_is_recognised(tmp_path: Path) -> None:
    solution = (ROOT / "solutions" / "layers" / "layers.py").read_bytes()
    written(tmp_path / "ada", {"layers (2).py": solution})
    assert collect(load("pieces"), tmp_path / "ada").problem == (
        "expected pieces.py, found layers (2).py; this looks like `layers`, handed in for `pieces`"
    )
    written(tmp_path / "ben", {"pieces.py": solution})
    found = collect(load("pieces"), tmp_path / "ben")
    assert found.entry == "pieces.py"
    assert "this looks like `layers`, handed in for `pieces`" in found.notices
    for lab in ("pieces", "layers", "random_bert"):
        own = collect(load(lab), ROOT / "solutions" / lab / f"{lab}.py")
        assert not [notice for notice in own.notices if "looks like" in notice]


# Hostile archives ---------------------------------------------------------------------------------


def _names(*names: str) -> bytes:
    return zipped({"pieces.py": WORK, **dict.fromkeys(names, b"evil")})


def _links(kind: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as out:
        out.addfile(tarfile.TarInfo("pieces.py"), io.BytesIO())
        for name, target in (("a.txt", "/etc/passwd"), ("b.txt", "../../x"), ("c", "pieces.py")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            out.addfile(info)
        for name, special in (("fifo", tarfile.FIFOTYPE), ("dev", tarfile.CHRTYPE)):
            info = tarfile.TarInfo(name)
            info.type = special
            out.addfile(info)
    return stream.getvalue()


def _zip_links() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("pieces.py", WORK)
        info = zipfile.ZipInfo("key.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(info, "/etc/passwd")
    return stream.getvalue()


def _many(count: int, pack: str) -> bytes:
    files = {f"f{number}": b"" for number in range(count)}
    return zipped(files, compression=zipfile.ZIP_STORED) if pack == "zip" else tarred(files, pack)


def _overlapping() -> bytes:
    """A zip whose members all share one body: small, and huge when unpacked."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = body.compress(bytes(20_000_000)) + body.flush()
    crc = zlib.crc32(bytes(20_000_000))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(packed), 20_000_000, 9, 0)
    head = local + b"pieces.py" + packed
    entries = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(packed), 20_000_000, 9,
                    0, 0, 0, 0, 0, 0) + b"pieces.py"
        for _ in range(1000)
    )  # fmt: skip
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1000, 1000, len(entries), len(head), 0)
    return head + entries + end


def _lying_directory() -> bytes:
    """A zip whose end says twice how large its directory is, and a comment that hides one."""
    data = bytearray(_many(60_000, "zip"))
    return bytes(data[:-2] + struct.pack("<H", 22) + b"PK\5\6" + bytes(18))


def _quine() -> bytes:
    data = zipped({"x.txt": b"x"})
    for _ in range(40):
        data = zipped({"a.zip": data, "b.zip": data})
        if len(data) > 3_000_000:
            break
    return data


def _long_headers() -> bytes:
    """A tar of one long-name header on another, and one whose header says it is huge."""
    block = tarfile.TarInfo("././@LongLink")
    block.type, block.size = tarfile.GNUTYPE_LONGNAME, 600
    one = block.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    return one * 20_000


def _huge_pax() -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 60_000_000
    return gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + b"9 a=b\n" * 10_000_000)


def _sparse() -> bytes:
    info = tarfile.TarInfo("pieces.py")
    info.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = b"77777777777\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


def _twice() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("pieces.py", b"old = 1\n")
        with pytest.warns(UserWarning, match="Duplicate"):
            out.writestr("pieces.py", WORK)
    return stream.getvalue()


CORPUS: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: zipped({"pieces.py": bytes(100_000_000)}),
    "zeros beside": lambda: zipped({"pieces.py": WORK, "data.bin": bytes(100_000_000)}),
    "nested bomb": lambda: zipped({"a.zip": zipped({"pieces.py": bytes(100_000_000)})}),
    "gzip bomb": lambda: gzip.compress(bytes(200_000_000)),
    "bzip2 bomb": lambda: bz2.compress(bytes(100_000_000)),
    "xz bomb": lambda: lzma.compress(bytes(100_000_000)),
    "xz memory": lambda: lzma.compress(
        b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}]),
    "tar bomb": lambda: tarred({"pieces.py": bytes(100_000_000)}),
    "overlapping": _overlapping,
    "quine": _quine,
    "zip of 100,000": lambda: _many(100_000, "zip"),
    "zip of 15,000": lambda: _many(15_000, "zip"),
    "tar of 100,000": lambda: _many(100_000, "w"),
    "tar.gz of 100,000": lambda: _many(100_000, "w:gz"),
    "lying directory": _lying_directory,
    "escapes": lambda: _names("../../etc/cron.d/x", "/etc/passwd", "a/../../b", "C:\\x", "\\\\h\\x",
                              "..\\..\\x", "/", "..", "./../x"),
    "tar escapes": lambda: tarred({"pieces.py": WORK, "../x": b"", "/abs": b"", "a/../../b": b""}),
    "names": lambda: _names("x" * 60_000, "a/" * 500 + "b", "\x1b[31m", "\u202egpj.py", "nul\0x",
                            " ", "con", "-rf", "a" * 256),
    "file and folder": lambda: _names("a", "a/b", "a/b/c"),
    "twice": _twice,
    "symlinks": lambda: _links(tarfile.SYMTYPE),
    "hard links": lambda: _links(tarfile.LNKTYPE),
    "zip symlink": _zip_links,
    "long headers": _long_headers,
    "huge pax": _huge_pax,
    "sparse": _sparse,
    "random": lambda: b"PK\3\4" + os.urandom(1_000_000),
    "encrypted": lambda: _flag(zipped({"pieces.py": WORK}), 1),
    "bad crc": lambda: zipped({"pieces.py": b"words = 1234567\n"}, compression=0).replace(
        b"1234567", b"7654321"),
}  # fmt: skip


def _flag(data: bytes, bits: int) -> bytes:
    """A zip with a flag set on its members."""
    whole = bytearray(data)
    for at in range(len(whole)):
        if whole[at : at + 4] in (b"PK\3\4", b"PK\1\2"):
            whole[at + (6 if whole[at + 2] == 3 else 8)] |= bits
    return bytes(whole)


_MEASURED = """\
import json, sys, time
from pathlib import Path
from grader.assignment import load
from grader.collect import collect
lab = load("pieces")
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
before = peak()
start = time.process_time()
found = collect(lab, Path(sys.argv[1]))
used = time.process_time() - start
print(json.dumps({"seconds": used, "memory_mb": peak() - before, "entry": found.entry,
    "problem": found.problem, "files": sorted(found.files), "notices": found.notices}))
"""


@pytest.mark.parametrize("name", CORPUS)
def test_hostile_archive(tmp_path: Path, name: str) -> None:
    """Nothing is written outside, nothing crashes, and it costs little."""
    path = tmp_path / "in" / "ada.zip"
    path.parent.mkdir()
    path.write_bytes(CORPUS[name]())
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    print({key: found[key] for key in ("seconds", "memory_mb", "problem", "notices")})
    assert found["seconds"] < MAX_SECONDS
    assert found["memory_mb"] < MAX_MEMORY_MB
    assert sorted(tmp_path.rglob("*")) == [path.parent, path]
    assert found["entry"] is not None or found["problem"]
    assert "\n" not in (found["problem"] or "")
    for file in found["files"]:
        assert not file.startswith(("/", "\\"))
        assert ".." not in file.split("/")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("zeros", "larger than 16 MB"),
        ("nested bomb", "larger than 16 MB"),
        ("gzip bomb", "would unpack to more than 64 MB"),
        ("zip of 100,000", f"holds more than {MAX_SEEN:,} files"),
        ("tar of 100,000", f"holds more than {MAX_SEEN:,} files"),
        ("zip of 15,000", "15000 files were handed in, more than 500"),
        ("xz memory", "Memory usage limit"),
        ("bad crc", "Bad CRC-32"),
        ("quine", "too many archives in archives"),
    ],
)
def test_why_it_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    found = _collected(tmp_path, CORPUS[name]())
    assert found.entry is None
    assert sentence in (found.problem or "")


def test_what_leads_outside_is_left_out_and_told(tmp_path: Path) -> None:
    found = _collected(tmp_path, CORPUS["escapes"]())
    assert found.files == {"pieces.py": WORK}
    assert any("such a name leads outside" in notice for notice in found.notices)
    linked = _collected(tmp_path, CORPUS["symlinks"]())
    assert set(linked.files) == {"pieces.py"}
    assert "left out a.txt, b.txt, c: links are not followed" in linked.notices
    assert _collected(tmp_path, CORPUS["zip symlink"]()).files == {"pieces.py": WORK}
    assert _collected(tmp_path, CORPUS["twice"]()).files == {"pieces.py": WORK}
    folders = _collected(tmp_path, CORPUS["file and folder"]())
    assert set(folders.files) == {"pieces.py", "a/b/c"}


@given(st.binary(max_size=400), st.sampled_from(["zip", "tar", "gz"]), st.data())
@settings(max_examples=300, deadline=None)
def test_broken_archives_are_refused_or_read(noise: bytes, kind: str, data: st.DataObject) -> None:
    """A good archive with some bytes changed never raises anything but `Refused`."""
    good = {
        "zip": zipped({"pieces.py": WORK, "a/b.py": b"x"}),
        "tar": tarred({"pieces.py": WORK, "a/b.py": b"x"}, "w"),
        "gz": tarred({"pieces.py": WORK}),
    }[kind]
    at = data.draw(st.integers(0, len(good)))
    broken = good[:at] + noise + good[at + len(noise) :]
    read: dict[str, bytes] = {}
    with contextlib.suppress(Refused):
        for name, item in open_archive(io.BytesIO(broken), "x.zip", STUDENT, []).items():
            read[name] = item.read(1000)
    assert all(len(content) <= 1000 for content in read.values())
    assert not [name for name in read if name.startswith("/") or ".." in name.split("/")]
