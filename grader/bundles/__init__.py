"""Bundles: an encoder, its tokenizer and the queries, found, checked and laid out for the course.

`tiny` comes with the package. The published ones (`published`) are laid out from files that
`fetch` brought, or that lie in a folder of the caller's; an instructor's own (`own`) from a folder
with a `bundle.toml`. Whatever is laid out has a list of digests, and is looked over at each use.
"""

from __future__ import annotations

from pathlib import Path

from grader.bundles import own, published
from grader.bundles.folder import Bundle, opened
from grader.records import BundleError

__all__ = ["Bundle", "find", "like", "named", "names"]


def names() -> list[str]:
    """The bundles that have names; any other is a folder with a `bundle.toml`."""
    return ["tiny", *published.BUNDLES]


def find(name: str, folder: Path | None = None) -> Bundle:
    """The bundle of a name, ready to be read.

    Args:
        name: one of `names()`, or the path of a folder with a `bundle.toml`.
        folder: where the files of a published bundle lie; else the variable GRADER_BUNDLE_DIR says,
            else what was fetched is used.

    Raises:
        BundleError: there is no such bundle, or a file of it is missing or altered.
    """
    if name == "tiny":
        return opened(Path(__file__).resolve().parents[1] / "tiny" / "data", "tiny")
    if name in published.BUNDLES:
        return published.find(name, folder)
    if own.is_one(name):
        return own.find(Path(name))
    raise BundleError(_no_such(name))


def like(name: str) -> str:
    """Whose cases and bands a bundle takes where it has none of its own.

    Raises:
        BundleError: there is no such bundle.
    """
    if own.is_one(name):
        return own.read(Path(name)).like
    if name not in names():
        raise BundleError(_no_such(name))
    return published.LIKE.get(name, name)


def named(name: str) -> str:
    """What a bundle is called: its name, or what the `bundle.toml` of its folder says."""
    return own.read(Path(name)).name if own.is_one(name) else name


def _no_such(name: str) -> str:
    return (
        f"there is no bundle {name!r}: the bundles are {', '.join(names())}, or a folder with a "
        "bundle.toml"
    )
