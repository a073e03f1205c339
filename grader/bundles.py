"""Bundles: an encoder, its tokenizer and the queries, found, checked and laid out for the course.

`tiny` comes with the package. `banking77` is laid out from a folder of the caller's that holds the
published files under any sub-folder; what is missing is said by what needs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from grader.records import BundleError

#: BERT-Mini, google/bert_uncased_L-4_H-256_A-4 at 387825ce42dbb39b87911cdf8e383ee3b25184f8.
_BERT_MINI = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "vocab_size": 30522,
    "layer_norm_eps": 1e-12,
    "initializer_range": 0.02,
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "pad_token_id": 0,
}
#: The published files by SHA-256: Banking77 at PolyAI's commit 57ec275d, BERT's uncased vocabulary.
_BANKING77 = {
    "train.csv": "b06e26ac675513959a63135f11b94ea7786ed02da65db93a5650d8838cbc664b",
    "test.csv": "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
BUNDLE_DIR = "GRADER_BUNDLE_DIR"


@dataclass(frozen=True)
class Bundle:
    """A bundle, ready to be read."""

    name: str  #: as cases name it
    folder: Path  #: train.csv, test.csv, perhaps val.csv, and encoder/
    digest: str  #: SHA-256 over its files' names and contents
    weights: bool  #: whether the encoder's weights are there


def find(name: str, folder: Path | None = None) -> Bundle:
    """The bundle of a name.

    Args:
        name: "tiny" or "banking77".
        folder: where the files of `banking77` lie; else the variable GRADER_BUNDLE_DIR says.

    Raises:
        BundleError: there is no such bundle, or a file of it is missing or altered.
    """
    if name == "tiny":
        return _tiny()
    if name == "banking77":
        return _banking77(folder or _named_folder())
    raise BundleError(f"there is no bundle {name!r}: the bundles are tiny and banking77")


def _tiny() -> Bundle:
    folder = Path(__file__).resolve().parent / "tiny" / "data"
    try:
        listed = json.loads((folder / "bundle.json").read_text("utf-8"))["sha256"]
    except (OSError, ValueError, KeyError) as problem:
        raise BundleError(
            f"{folder / 'bundle.json'}: {problem}; install the package again"
        ) from None
    for name, digest in listed.items():
        _check(folder / name, digest)
    return Bundle("tiny", folder, _digest(folder), weights=True)


def _named_folder() -> Path:
    named = os.environ.get(BUNDLE_DIR)
    if not named:
        raise BundleError(
            f"bundle banking77 needs a folder with its files: give --bundle-dir or set {BUNDLE_DIR}"
        )
    return Path(named)


def _banking77(source: Path) -> Bundle:
    """Lay the files out in the user's cache folder, once for each set of contents."""
    found = {name: _locate(source, name) for name in _BANKING77}
    for name, path in found.items():
        _check(path, _BANKING77[name])
    weights = [path for name in _WEIGHTS for path in sorted(source.rglob(name))][:1]
    key = hashlib.sha256(weights[0].read_bytes()).hexdigest()[:16] if weights else "no-weights"
    target = platformdirs.user_cache_path("torch-grader") / "bundles" / f"banking77-{key}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        _lay_out(found, weights, target)
    return Bundle("banking77", target, _digest(target), weights=bool(weights))


def _lay_out(found: dict[str, Path], weights: list[Path], target: Path) -> None:
    """Copy the files beside the target and rename the folder, so that it is whole or absent."""
    beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=target.name))
    (beside / "encoder").mkdir()
    for name in ("train.csv", "test.csv"):
        shutil.copyfile(found[name], beside / name)
    shutil.copyfile(found["vocab.txt"], beside / "encoder" / "vocab.txt")
    for path in weights:
        shutil.copyfile(path, beside / "encoder" / path.name)
    (beside / "encoder" / "config.json").write_text(json.dumps(_BERT_MINI, indent=2), "utf-8")
    beside.chmod(0o755)
    try:
        beside.rename(target)
    except OSError:  # another process was first
        shutil.rmtree(beside)


def _locate(source: Path, name: str) -> Path:
    """The one file of a name at or below a folder."""
    found = sorted(source.rglob(name)) if source.is_dir() else []
    if not found:
        raise BundleError(f"bundle banking77: no {name} in {source}; put the published file there")
    return found[0]


def _check(path: Path, digest: str) -> None:
    try:
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as problem:
        raise BundleError(f"{path}: {problem.strerror}; install or fetch it again") from None
    if actual != digest:
        raise BundleError(
            f"{path}: altered or incomplete (SHA-256 {actual[:12]}…, not {digest[:12]}…); "
            "install or fetch it again"
        )


def _digest(folder: Path) -> str:
    """One digest over all files below a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()
