"""What the course modules read: the queries, and the folder of the encoder.

`folder` is the bundle in use: the one that COURSE_BUNDLE names, else the small one that comes with
the grader. Importing this module gives all of its rows; a grader draws others with `use`.
"""

import importlib.util
import json
import os
from pathlib import Path

import pandas as pd


def _folder() -> Path:
    """The folder of the bundle in use."""
    if named := os.environ.get("COURSE_BUNDLE"):
        return Path(named)
    grader = importlib.util.find_spec("grader")
    if grader is None or grader.origin is None:
        raise SystemExit("Set COURSE_BUNDLE to a bundle's folder, or install the grader.")
    return Path(grader.origin).parent / "tiny" / "data"


folder = _folder()
encoder = folder / "encoder"


def _queries(name: str) -> pd.DataFrame:
    """The queries of one file, with columns `text` and `category`."""
    return pd.read_csv(folder / name, encoding="utf-8", keep_default_na=False)


def _split() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Train, validation and test queries.

    A bundle without a `val.csv` is split as the lesson splits Banking77: 2,000 rows drawn with seed
    42, in that order, are the validation queries; the rest, in file order, are the training ones.
    """
    full = _queries("train.csv")
    if (folder / "val.csv").exists():
        return full, _queries("val.csv"), _queries("test.csv")
    drawn = full.sample(n=2000, random_state=42)
    return full.drop(drawn.index), drawn, _queries("test.csv")


_all = _split()
train, val, test = _all
#: The names of the intents, sorted; those of the whole bundle, whichever rows are in use.
intents: list[str] = sorted(_all[0]["category"].unique())


def use(rows: dict[str, int | None], seed: int) -> None:
    """Draw the rows of a case.

    Args:
        rows: how many queries of `train`, `val` and `test`; None for all, in their order.
        seed: which ones are drawn.
    """
    for name, frame in zip(("train", "val", "test"), _all, strict=True):
        count = rows[name]
        drawn = frame if count is None else frame.sample(n=count, random_state=seed)
        globals()[name] = drawn.copy()


def config() -> dict[str, object]:
    """The encoder's configuration, as written in its `config.json`."""
    loaded: dict[str, object] = json.loads((encoder / "config.json").read_text("utf-8"))
    return loaded
