"""The three formats of one stored grade, as they are to be.

After a change that is meant, `python tests/test_golden.py` writes them again; read the difference.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from grader import render
from grader.assignment import load
from grader.feedback import feedback
from grader.pages import stored
from grader.records import Submission

GOLDEN = Path(__file__).parent / "golden"
STUDENT = GOLDEN / "cleo"
FORMATS = ("html", "md", "txt")


def rendered() -> dict[str, str]:
    """The stored grade in each format; drawings, which are matplotlib's, left out."""
    source = (STUDENT / "submission" / "layers.py").read_bytes()
    submission = Submission("cleo", {"layers.py": source}, "layers.py")
    shown = feedback(load("layers"), stored(STUDENT), submission)
    stream = io.StringIO()
    render.print_feedback(Console(file=stream, width=100, no_color=True), shown)
    html = render.page("feedback.html", shown)
    style = re.compile(r"(?<=<style>\n).*?(?=</style>)", re.DOTALL)
    drawing = re.compile(r"<svg .*?</svg>", re.DOTALL)
    return {
        "html": drawing.sub("<svg/>", style.sub("", html)),
        "md": render.page("feedback.md", shown),
        "txt": re.sub(r" +$", "", stream.getvalue(), flags=re.MULTILINE),
    }


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return rendered()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_stored_grade_is_told_as_it_was(made: dict[str, str], kind: str) -> None:
    assert made[kind] == (GOLDEN / f"feedback.{kind}").read_text("utf-8")


@pytest.mark.parametrize("kind", FORMATS)
def test_no_hidden_message_or_value_is_in_them(kind: str) -> None:
    """The stored grade has them: it is the instructor's."""
    text = (GOLDEN / f"feedback.{kind}").read_text("utf-8")
    grade = json.loads((STUDENT / "grade.json").read_text("utf-8"))
    public = {row["what"] + row["expected"] for row in _compared(grade, hidden=False)}
    hidden = [row for row in _compared(grade, hidden=True) if row["expected"][-1].isdigit()]
    secret = {
        row["expected"].rpartition(" = ")[2]
        for row in hidden
        if row["what"] + row["expected"] not in public
    }
    messages = [check["message"] for check in grade["checks"] if check["hidden"]]
    assert len(secret) > 10
    assert len([message for message in messages if message]) > 4
    for value in secret:
        assert value not in text, value
    for message in messages:
        assert not message or message.splitlines()[0] not in text, message
    assert "printed on hidden rows" not in text


def _compared(grade: dict[str, object], *, hidden: bool) -> list[dict[str, str]]:
    checks = grade["checks"]
    assert isinstance(checks, list)
    return [row for check in checks if check["hidden"] == hidden for row in check["compared"]]


if __name__ == "__main__":
    for name, content in rendered().items():
        (GOLDEN / f"feedback.{name}").write_text(content, "utf-8")
