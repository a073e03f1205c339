"""Takes the pictures that the README shows: `python tests/browser/screenshots.py RESULTS OUT`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import chromium
from PIL import Image
from playwright.sync_api import Browser

#: By name of the picture: the page, its width and height, and the colours.
PICTURES = {
    "student": ("layers/cleo/feedback.html", 860, 1000, "light"),
    "class": ("layers/index.html", 1180, 1000, "light"),
}
_COLOURS = 128  #: enough for text and bars, and a quarter of the size


def take(browser: Browser, results: Path, out: Path, name: str) -> Path:
    """Take one picture, small enough for a repository."""
    file, width, height, scheme = PICTURES[name]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto((results / file).resolve().as_uri())
    shot = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    path = out / f"{name}.png"
    shot.convert("RGB").quantize(_COLOURS).save(path, optimize=True)
    return path


def main() -> None:
    """Take them all."""
    results, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    with chromium.browser() as browser:
        for name in PICTURES:
            path = take(browser, results, out, name)
            print(f"{path}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
