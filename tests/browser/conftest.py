"""A browser for all tests of the pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

sys.path.append(str(Path(__file__).parent))

import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    if chromium.path() is None:
        pytest.skip("there is no chromium here: apt-get install chromium")
    with chromium.browser() as opened:
        yield opened
