"""Writes what the platforms' downloads look like, with the nasty variants; nothing of them is real.

`python tests/downloads.py FOLDER` leaves one of each kind there to look at.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, bytes]

WORK = b"words = 1\n"


def zipped(files: Files, **options: int) -> bytes:
    """A zip of files; `compression` may be given."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **{"compression": zipfile.ZIP_DEFLATED, **options}) as out:
        for name, data in files.items():
            out.writestr(name, data)
    return stream.getvalue()


def tarred(files: Files, mode: str = "w:gz") -> bytes:
    """A tar of files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as out:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def written(folder: Path, files: Files) -> Path:
    """Files in a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def notebook(*cells: str, **fields: object) -> bytes:
    """A notebook of code cells."""
    code = [
        {"cell_type": "code", "execution_count": None, "id": f"c{number}", "metadata": {},
         "outputs": [], "source": source}
        for number, source in enumerate(cells)
    ]  # fmt: skip
    whole = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **fields}
    return json.dumps(whole).encode()


def moodle() -> dict[str, bytes]:
    """A folder a student; one with an online text as well, one with nothing else."""
    return {
        "Ada Lovelace_1201_assignsubmission_file_/pieces.py": WORK,
        "Ada Lovelace_1202_assignsubmission_file_/pieces (1).py": WORK,  # a namesake
        "José_María O'Neil_1203_assignsubmission_file_/hw.zip": zipped({"hw/pieces.py": WORK}),
        "José_María O'Neil_1203_assignsubmission_onlinetext_/onlinetext.html": b"<p>hi</p>",
        "李 小龙_1204_assignsubmission_file_/pieces.ipynb": notebook("words = 1"),
        "Late Comer_1205_assignsubmission_onlinetext_/onlinetext.html": b"<p>sorry</p>",
    }


def moodle_flat() -> dict[str, bytes]:
    """The same without folders, as Moodle gives it when asked."""
    return {
        "Ada Lovelace_1201_assignsubmission_file_pieces.py": WORK,
        "Ada Lovelace_1201_assignsubmission_file_helpers.py": WORK,
        "李 小龙_1204_assignsubmission_file_pieces.ipynb": notebook("words = 1"),
    }


def canvas() -> dict[str, bytes]:
    """One flat folder; a late student, one who handed in again, one whose name has a hyphen."""
    return {
        "lovelaceada_1001_50001_pieces.py": WORK,
        "lovelaceada_1001_50002_helpers.py": WORK,
        "hopper-murraygrace_LATE_1002_50003_pieces-1.py": b"old = 1\n",
        "hopper-murraygrace_LATE_1002_50004_pieces-2.py": WORK,
        "李小龙_1003_50005_pieces.ipynb": notebook("words = 1"),
        "zuseconrad_1004_50006_my_home_work.zip": zipped({"x/pieces.py": WORK}),
    }


def gradescope() -> dict[str, bytes]:
    """Folders by number and a file of who and when; a group of two, and one who left a note."""
    metadata = """\
submission_7001:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1001'
    :email: ada@example.org
  :created_at: 2026-10-01 10:00:00.000000000 Z
  :status: processed
submission_7002:
  :submitters:
  - :name: 'Hopper, Grace'
    :sid: '1002'
    :email: grace@example.org
  - :name: 李 小龙
    :sid: '1003'
    :email: li@example.org
  :created_at: 2026-10-02 10:00:00 +02:00
submission_7003:
  :submitters:
  - :name: Nobody
    :sid:
    :email: n@example.org
"""
    root = "assignment_42_export"
    return {
        f"{root}/submission_metadata.yml": metadata.encode(),
        f"{root}/submission_7001/pieces.py": WORK,
        f"{root}/submission_7002/src/pieces.py": WORK,
        f"{root}/submission_7003/notes.txt": b"I was ill\n",
        "__MACOSX/._submission_metadata.yml": b"\0",
    }


def _git(folder: Path, *words: str, when: str = "2026-10-01T10:00:00+00:00") -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
        cwd=folder,
        env={**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when,
             "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip
    return done.stdout.strip()


def repository(folder: Path, *commits: tuple[str, Files], branch: str = "main") -> list[str]:
    """A clone with commits, each with its time and its files; the commits' names."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", f"--initial-branch={branch}")
    names = []
    for when, files in commits:
        written(folder, files)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--allow-empty", "--message=work", when=when)
        names.append(_git(folder, "rev-parse", "HEAD"))
    return names


def bare(folder: Path, source: Path) -> Path:
    """A bare clone."""
    _git(source, "clone", "--quiet", "--bare", str(source), str(folder))
    return folder


def classroom(folder: Path) -> dict[str, list[str]]:
    """Clones as `gh classroom clone` lays them out; the commits by student."""
    top = folder / "pieces-submissions"
    return {
        user: repository(
            top / f"pieces-{user}",
            ("2026-10-01T10:00:00+00:00", {"pieces.py": WORK}),
            ("2026-10-03T10:00:00+00:00", {"pieces.py": b"late = 1\n", "README.md": b"hi"}),
        )
        for user in ("ada-l", "grace-h")
    }


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for name, files in {"moodle": moodle(), "canvas": canvas(), "gradescope": gradescope()}.items():
        written(target / name, files)
        (target / f"{name}.zip").write_bytes(zipped(files))
    classroom(target / "classroom")
