"""A bundle as it lies on disk: laid out whole or not at all, and looked over at each use.

train.csv, test.csv, perhaps val.csv      columns text and category
encoder/                                  config.json, vocab.txt, model.safetensors
bundle.json                               its name and the SHA-256 of every other file
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from grader.records import BundleError


@dataclass(frozen=True)
class Bundle:
    """A bundle, ready to be read."""

    name: str  #: as a caller names it
    folder: Path  #: train.csv, test.csv, perhaps val.csv, and encoder/
    digest: str  #: SHA-256 over its files' names and contents
    weights: bool  #: whether the encoder's weights are there
    rows: Mapping[str, int] | None = (
        None  #: queries of train, val and test, where they were counted
    )


def cache() -> Path:
    """Where bundles are kept."""
    return platformdirs.user_cache_path("torch-grader") / "bundles"


def opened(folder: Path, name: str) -> Bundle:
    """A bundle that was laid out, if every file is as it was.

    Raises:
        BundleError: a file is missing or altered.
    """
    manifest = folder / "bundle.json"
    try:
        read = json.loads(manifest.read_text("utf-8"))
        listed = dict(read["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BundleError(f"{manifest}: {problem}; {_mend(name, folder)}") from None
    for path, digest in listed.items():
        check(folder / path, digest, _mend(name, folder))
    weights = "encoder/model.safetensors" in listed
    return Bundle(name, folder, _digest(listed), weights, read.get("rows"))


def laid_out(target: Path, name: str, fill: Callable[[Path], Mapping[str, int] | None]) -> Bundle:
    """The bundle in a folder, made by `fill` if it is not there yet.

    It is made beside its place, listed and renamed, so that it is whole or absent.

    Args:
        target: the folder.
        name: the bundle's.
        fill: puts the files into a folder; may say how many rows the frames have.
    """
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            (beside / "encoder").mkdir()
            rows = fill(beside)
            listed = {p.relative_to(beside).as_posix(): sha256(p) for p in _files(beside)}
            manifest = {"version": 1, "name": name, "rows": rows, "sha256": listed}
            (beside / "bundle.json").write_text(json.dumps(manifest, indent=2), "utf-8")
            beside.chmod(0o755)
            if not target.exists():  # else another process was first
                beside.rename(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return opened(target, name)


def check(path: Path, digest: str, mend: str) -> None:
    """A file is what it should be.

    Raises:
        BundleError: it is missing or altered.
    """
    actual = sha256(path, mend)
    if actual != digest:
        raise BundleError(
            f"{path}: altered or incomplete (SHA-256 {actual[:12]}…, not {digest[:12]}…); {mend}"
        )


def sha256(path: Path, mend: str = "look at its folder") -> str:
    """The SHA-256 of a file, in hexadecimal digits.

    Raises:
        BundleError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise BundleError(f"{path}: {problem.strerror}; {mend}") from None


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _digest(listed: dict[str, str]) -> str:
    """One digest over all files, which have just been checked against theirs."""
    lines = "".join(f"{path} {digest}\n" for path, digest in sorted(listed.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _mend(name: str, folder: Path) -> str:
    return "install the package again" if name == "tiny" else f"remove {folder} and try again"
