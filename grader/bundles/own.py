"""An instructor's own bundle: a folder with a `bundle.toml`, checked and laid out for the course.

```toml
version = 1
name = "support_mails"
encoder = "encoder"        # a folder: config.json, vocab.txt or tokenizer.json, model.safetensors
like = "tiny"              # whose cases and bands the labs take: tiny or banking77

[data]
train = "train.csv"
test = "test.csv"
val = "val.csv"            # or, in its place, a table [split]
text = "text"              # the columns
category = "category"

[split]                    # validation queries drawn from the training ones
rows = 2000
seed = 42

[sizes]                    # what is asserted of it; each optional
train = 8003
intents = 77
```
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from grader.bundles.folder import Bundle, cache, laid_out, sha256
from grader.records import AssignmentError, BundleError
from grader.tomls import Strict, read_toml

FILE = "bundle.toml"
_TOKENIZERS = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_Count = Field(default=None, gt=0)


class _Data(Strict):
    train: str
    test: str
    val: str | None = None
    text: str = "text"
    category: str = "category"


class _Split(Strict):
    rows: int = Field(gt=0)
    seed: int = Field(default=42, ge=0, lt=2**32)


class _Sizes(Strict):
    train: int | None = _Count
    val: int | None = _Count
    test: int | None = _Count
    intents: int | None = _Count
    vocabulary: int | None = _Count
    layers: int | None = _Count
    hidden: int | None = _Count


class Own(Strict):
    """What `bundle.toml` holds."""

    version: Literal[1]
    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    encoder: str
    like: Literal["tiny", "banking77"] = "tiny"
    data: _Data
    split: _Split | None = None
    sizes: _Sizes = _Sizes()


def is_one(name: str) -> bool:
    """Whether a name is the path of a folder with a `bundle.toml`."""
    return (Path(name) / FILE).is_file()


def read(folder: Path) -> Own:
    """The `bundle.toml` of a folder.

    Raises:
        BundleError: it is not as it must be; with field and mend.
    """
    try:
        found = read_toml(folder / FILE, Own)
    except AssignmentError as problem:
        raise BundleError(str(problem)) from None
    if (found.data.val is None) == (found.split is None):
        raise BundleError(
            f"{folder / FILE}: data.val: give either a file of validation queries or a table "
            "[split], one of them"
        )
    return found


def find(folder: Path) -> Bundle:
    """Lay an own bundle out in the user's cache folder, once for each set of contents.

    Raises:
        BundleError: a file of it is missing or is not what `bundle.toml` says.
    """
    own = read(folder)
    encoder = _encoder(folder, own)
    data = [folder / name for name in (own.data.train, own.data.test, own.data.val) if name]
    paths = [folder / FILE, *data, *encoder]
    contents = "".join(f"{path.name} {sha256(path, f'mend {FILE}')}\n" for path in paths)
    key = hashlib.sha256(contents.encode()).hexdigest()[:16]
    target = cache() / f"own-{own.name}-{key}"
    return laid_out(target, own.name, lambda to: _fill(folder, own, encoder, to))


def _encoder(folder: Path, own: Own) -> list[Path]:
    """The files of the encoder that are used."""
    place = folder / own.encoder
    for name in ("config.json", "model.safetensors"):
        if not (place / name).is_file():
            raise BundleError(
                f"{folder / FILE}: encoder: no {name} in {place}; `save_pretrained` writes it there"
            )
    tokenizers = [place / name for name in _TOKENIZERS if (place / name).is_file()]
    if not {"vocab.txt", "tokenizer.json"} & {path.name for path in tokenizers}:
        raise BundleError(
            f"{folder / FILE}: encoder: neither vocab.txt nor tokenizer.json in {place}; the "
            "tokenizer's `save_pretrained` writes them there"
        )
    return [place / "config.json", place / "model.safetensors", *tokenizers]


def _fill(folder: Path, own: Own, encoder: list[Path], to: Path) -> dict[str, int]:
    """Copy the encoder, write the frames under the course's column names; the rows of each."""
    for path in encoder:
        shutil.copyfile(path, to / "encoder" / path.name)
    train, test = (_frame(folder, own, name) for name in (own.data.train, own.data.test))
    if own.split is not None:
        if own.split.rows >= len(train):
            raise BundleError(
                f"{folder / FILE}: split.rows = {own.split.rows}: the training file has "
                f"{len(train)} queries; draw fewer"
            )
        val = train.sample(n=own.split.rows, random_state=own.split.seed)
        train = train.drop(val.index)
    else:
        val = _frame(folder, own, str(own.data.val))
    frames = {"train": train, "val": val, "test": test}
    for name, frame in frames.items():
        if unknown := sorted(set(frame["category"]) - set(train["category"])):
            raise BundleError(
                f"{folder / FILE}: data: the {name} queries have an intent that no training query "
                f"has, {unknown[0]!r}; mend the files"
            )
        frame.to_csv(to / f"{name}.csv", index=False)
    _check_sizes(folder, own, frames, json.loads((to / "encoder/config.json").read_text("utf-8")))
    return {name: len(frame) for name, frame in frames.items()}


def _frame(folder: Path, own: Own, name: str) -> pd.DataFrame:
    """The queries of one file, with columns `text` and `category`."""
    path, columns = folder / name, [own.data.text, own.data.category]
    try:
        frame = pd.read_csv(path, encoding="utf-8", keep_default_na=False, dtype=str)
    except (OSError, ValueError) as problem:
        raise BundleError(f"{path}: cannot be read as a CSV: {problem}") from None
    if missing := [column for column in columns if column not in frame.columns]:
        raise BundleError(
            f"{path}: no column {missing[0]!r}; it has {', '.join(frame.columns)}: say in "
            f"{FILE} which are data.text and data.category"
        )
    frame = frame[columns].set_axis(["text", "category"], axis=1)
    if frame.empty or (frame["category"].str.strip() == "").any():
        raise BundleError(f"{path}: a query without a category, or none at all; mend the file")
    return frame


def _check_sizes(
    folder: Path, own: Own, frames: dict[str, pd.DataFrame], config: dict[str, object]
) -> None:
    found = {name: len(frame) for name, frame in frames.items()} | {
        "intents": frames["train"]["category"].nunique(),
        "vocabulary": config.get("vocab_size"),
        "layers": config.get("num_hidden_layers"),
        "hidden": config.get("hidden_size"),
    }
    for name, wanted in own.sizes.model_dump(exclude_none=True).items():
        if found[name] != wanted:
            raise BundleError(
                f"{folder / FILE}: sizes.{name} = {wanted}: the files have {found[name]}; mend one"
            )
