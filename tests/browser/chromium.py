"""Debian's chromium, driven by Playwright, for the tests of the pages and for their pictures."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

#: As root it runs without its own sandbox, and it is to ask nobody for anything.
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def path() -> str | None:
    """Where a chromium is, None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser, closed at the end."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path(), args=list(ARGUMENTS))
        try:
            yield opened
        finally:
            opened.close()
