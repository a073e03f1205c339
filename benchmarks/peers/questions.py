"""What every peer asks of a script's names: the lab's own questions, of the public case.

Lies beside the lab's `probes.py` and the reference's values, `expected.json`; a peer's checks run
in the script's own process, and so do these.
"""

import json
import types
from pathlib import Path

import probes

EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text("utf-8"))


def ask(question, names):
    """Raise AssertionError unless the names answer the question as the reference does."""
    value = getattr(probes, question)(types.SimpleNamespace(**names))
    if value != EXPECTED[question]:
        raise AssertionError(f"{question} is not what the reference gives")
