"""The questions as plain pytest tests; SUBMISSION names the script."""

import os
import runpy

import pytest
from questions import EXPECTED, ask


@pytest.fixture(scope="session")
def names():
    """What the script defines, run once for all questions."""
    return runpy.run_path(os.environ["SUBMISSION"], run_name="__main__")


@pytest.mark.parametrize("question", EXPECTED)
def test_question(question, names):
    """The script answers as the reference does."""
    ask(question, names)
