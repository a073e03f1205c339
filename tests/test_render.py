"""Rendering: hostile text is harmless, and nothing of the hidden cases is shown to a student."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.console import Console
from rich.table import Table

from conftest import ROOT
from grader import classlist, plain, render, results
from grader.feedback import feedback
from grader.records import (
    Assignment,
    Case,
    Check,
    Compared,
    Disclosure,
    Grade,
    Part,
    Run,
    Series,
    Submission,
)

HOSTILE = {
    "tags": "<b>bold</b><img src=x onerror=alert(1)>",
    "script": "</pre></title><script>alert(1)</script>",
    "entities": "&lt;script&gt; &amp; \"quoted\" 'single'",
    "fences": "```\n# heading\n````\n~~~\n<script>alert(1)</script>\n```",
    "markdown": "[link](javascript:alert(1)) ![x](http://evil.example/x.png) **b** `c` | d | # e",
    "command": "::error file=a::boom\n  ::set-output name=x::y\n##[error]boom\n::stop-commands::z",
    "escapes": "\x1b[31mred\x1b]0;title\x07\x1b[2J\x9b1m\x00\x08\x7f",
    "reading direction": "\u202etxt.exe\u202c \u2066a\u2069 \u200f\u061c",
    "returns": "seen\rhidden\r\nnext",
    "addresses": "see https://evil.example/x, www.evil.example, @someone, a@b.example and #12",
    "markup": "[red]not red[/red] [link=http://evil.example]x[/link] [/] :skull:",
    "template": "{{ 7 * 7 }}{% raw %}{# x #}",
    "half a character": "a\udce9b",
    "separators": "a\u2028b\u2029c\x0bd\x0ce\x85f",
}
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def _assignment(disclosure: Disclosure = "name", language: str = "en") -> Assignment:
    cases = [
        Case(name, "tiny", 1, 1, 1, 0, 0.5, name == "hidden", 5.0, 100)
        for name in ("public", "hidden")
    ]
    parts = (Part("views", "It's <the> views", 6.0), Part("lines", "The lines", 4.0))
    here = ROOT / "assignments"
    return Assignment(
        "layers", "Which layer", "layers.py", parts, tuple(cases), (), here / "layers",
        here / "course", None, disclosure={"default": disclosure}, language=language,
    )  # fmt: skip


def _grade(text: str = "text", hidden: str = "text") -> Grade:
    """A grade with text of the student's wherever it can come, and text of the hidden case's."""
    runs = (
        Run("public", "error", text, {}, {"p": text}, text, text, 1.0, 1.0, 9.0),
        Run("hidden", "crashed", hidden, {}, {"p": hidden}, hidden, hidden, 1.0, 1.0, 9.0),
    )
    checks = tuple(
        Check(
            "views", part, 2.0, 0.5 if status == "partial" else 0.0, status, case, case == "hidden",
            "The `views` are <right>.", hidden if case == "hidden" else text,
            "Don't look at `train['text']`; 1 < 2.",
            probes=("views",),
            guarded=f"guarded {hidden}" if case == "hidden" else None,
            compared=(Compared("views", *[hidden if case == "hidden" else text] * 2, "0.5"),),
            series=(Series("rows", "views", ("0", "1", "2", "3"), (0.1, None, 0.0, 2.5)),),
        )
        for part in ("views", "lines")
        for case in ("public", "hidden")
        for status in ("partial", "failed", "error", "not_run")
    )  # fmt: skip
    return Grade("layers", text, 2.0, 20.0, True, (f"set aside {text}: x",), runs, checks)


def _submission(student: str) -> Submission:
    """Files with a student's name wherever a page may show them."""
    source = f"def views(df):\n    {student}\n\n\n"
    return Submission(student, {"layers.py": source.encode("utf-8", "replace")}, "layers.py")


def _saved(out: Path, *grades: Grade) -> Path:
    """The page of a class of these grades."""
    with results.Results(out, _assignment()) as held:
        for grade in grades:
            held.save(_submission(grade.student), grade, {}, "", grade.runs)
    return classlist.save(out, _assignment())


def _table(out: Path) -> Table:
    return render.table_of_class(_assignment(), classlist.rows(out, _assignment()))


def _terminal(*printed: Any, width: int = 100) -> str:
    """What goes to a terminal that shows no colours, so that every escape is a student's."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    console = Console(file=stream, width=width, force_terminal=False, no_color=True)
    for one in printed:
        if isinstance(one, dict):
            render.print_feedback(console, one)
        else:
            console.print(one)
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def _feedback(grade: Grade, assignment: Assignment | None = None) -> dict[str, str]:
    """Everything that a student may see of a grade, by kind."""
    shown = feedback(assignment or _assignment(), grade, _submission(grade.student))
    pages = {kind: render.page(f"feedback.{kind}", shown) for kind in ("html", "md")}
    return {**pages, "terminal": _terminal(shown)}


class _Reader(HTMLParser):
    """Collects a page's tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def _rendered(markdown: str) -> _Reader:
    """Markdown as GitHub would show it, with raw HTML let through."""
    return _Reader(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


# Hostile text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_in_feedback_html(what: str) -> None:
    page = _feedback(_grade(HOSTILE[what]))["html"]
    plain = _feedback(_grade())["html"]
    assert not CONTROLS.search(page)
    assert _Reader(page).tags == _Reader(plain).tags
    assert _Reader(page).attributes == _Reader(plain).attributes
    assert _Reader(page).links == []


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_in_feedback_md(what: str) -> None:
    page = _feedback(_grade(HOSTILE[what]))["md"]
    plain = _rendered(_feedback(_grade())["md"])
    assert not CONTROLS.search(page)
    assert _rendered(page).tags == plain.tags
    assert _rendered(page).attributes == plain.attributes
    assert _rendered(page).links == []


@pytest.mark.parametrize("kind", ["md", "terminal"])
def test_no_line_is_a_workflow_command(kind: str) -> None:
    """Both may be printed into a runner's log, which obeys such lines, indented or not."""
    for line in _feedback(_grade(HOSTILE["command"]))[kind].splitlines():
        assert not line.strip().startswith("::"), line
        assert "##[" not in line


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_in_the_terminal(what: str) -> None:
    shown = _feedback(_grade(HOSTILE[what]))["terminal"]
    assert not CONTROLS.search(shown)
    if what == "markup":
        assert "[red]not red[/red]" in shown


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_name_in_the_class(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = HOSTILE[what].replace("/", "").replace("\0", "")[:60]
    grades = [replace(_grade(), student=student) for student in ("ada", name)]
    text = _saved(tmp_path, *grades).read_text("utf-8")
    page = _Reader(text)
    assert not CONTROLS.search(page.text)
    assert page.tags.isdisjoint({"img", "b"})
    assert text.count("<script") == 1
    assert len(set(page.links)) == 2
    assert all(re.fullmatch(r"[\w.%~-]+/feedback\.html", link, re.ASCII) for link in page.links)
    table = _terminal(_table(tmp_path))
    assert not CONTROLS.search(table)
    assert "ada" in table


def test_link_of_a_name_that_is_no_utf_8_leads_to_its_folder(tmp_path: Path) -> None:
    page = _Reader(_saved(tmp_path, replace(_grade(), student="ren\udce9")).read_text("utf-8"))
    assert set(page.links) == {"ren%E9/feedback.html"}


def test_what_is_harmless_is_shown_as_it_is() -> None:
    text = "expected [2, 3], got 'a' & \"b\" <class 'int'> *é* 日本\n\tindented"
    shown = _feedback(_grade(text))
    assert text in _Reader(shown["html"]).text
    assert text.splitlines()[0] in _rendered(shown["md"]).text
    assert text.splitlines()[0] in shown["terminal"]


def test_labs_own_words_read_the_same_everywhere() -> None:
    shown = _feedback(_grade())
    for words in ("The `views` are <right>.", "Don't look at `train['text']`; 1 < 2."):
        assert words.replace("`", "") in _Reader(shown["html"]).text
        assert words.replace("`", "") in _rendered(shown["md"]).text
        assert words in shown["terminal"]
    assert "It's <the> views" in _rendered(shown["md"]).text


def _long(text: str) -> Grade:
    """Long text where it can come: printed, in a reason, and in a check's message."""
    grade = _grade(text)
    checks = (replace(grade.checks[0], compared=()),)  # what is in a table is short already
    return replace(grade, student="ada", notices=(), checks=checks)


def test_ten_thousand_lines_are_cut_in_the_middle() -> None:
    text = "\n".join(f"line {n}" for n in range(10_000))
    shown = _feedback(_long(text))
    for kind, page in shown.items():
        assert page.count("\n") < 6 * plain.MAX_LINES, kind
    assert "line 0\n" in shown["html"]
    assert "line 9999" in shown["html"]
    assert "9900 lines left out" in shown["html"]


def test_very_long_lines_are_cut() -> None:
    short = _feedback(_long("x"))
    for kind, shown in _feedback(_long("x" * 50_000)).items():
        assert len(shown) < len(short[kind]) + 6_000, kind


def test_no_address_is_made_a_link_by_github() -> None:
    """It links bare addresses, mentions and numbers of issues, in whatever is no code."""
    shown = _feedback(_grade(HOSTILE["addresses"]))["md"]
    text = re.sub(r"(`{3,}).*?\1|`[^`]*`", "", shown, flags=re.DOTALL)
    assert "evil" in text
    assert not re.search(r"://|www\.|@\w|#\d", text)


# Hidden cases -------------------------------------------------------------------------------------


def test_nothing_of_a_hidden_case_is_shown() -> None:
    shown = _feedback(_grade(hidden="CANARY"))
    for kind, text in shown.items():
        assert "CANARY" not in text, kind
        assert "Look" in text or "look" in text
    for text in (shown["html"], _rendered(shown["md"]).text):
        assert "other data than yours" in text
    for kind, text in shown.items():
        assert "no reason is shown" in " ".join(text.split()), kind


def test_what_is_public_is_shown() -> None:
    for kind, text in _feedback(_grade("CANARY", "secret")).items():
        assert "CANARY" in text, kind
        assert "secret" not in text, kind


def test_saved_feedback_shows_nothing_hidden_either(tmp_path: Path) -> None:
    grade = replace(_grade(hidden="CANARY"), student="ada")
    index = _saved(tmp_path, grade)
    folder = index.parent / "ada"
    for path in (folder / "feedback.html", folder / "feedback.md", index):
        assert "CANARY" not in path.read_text("utf-8")
    assert "CANARY" in (folder / "grade.json").read_text("utf-8")  # for the instructor


def test_passed_check_shows_neither_message_nor_hint_in_the_terminal() -> None:
    check = replace(_grade().checks[0], status="passed", message="MESSAGE", hint="HINT")
    shown = _feedback(replace(_grade(), checks=(check,)))["terminal"]
    assert "MESSAGE" not in shown
    assert "HINT" not in shown


# Points -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"), (0.0, "0"), (-0.0, "0"), (1, "1"), (10, "10"), (100.0, "100"), (1200, "1200"),
        (17.5, "17.5"), (0.25, "0.25"), (20 / 3, "6.67"), (0.7000000000000001, "0.7"),
        (0.1 + 0.2, "0.3"), (9.999999999, "10"), (0.001, "0"), (-1e-12, "0"),
    ],
)  # fmt: skip
def test_points_have_two_decimals_at_most(number: float, shown: str) -> None:
    assert plain.points(number) == shown


def test_points_are_shown_by_part_and_in_all() -> None:
    for text in _feedback(replace(_grade(), points=20 / 3)).values():
        assert "6.67 of 20 points" in text
    shown = feedback(_assignment(), _grade())
    assert [(part["earned"], part["points"]) for part in shown["parts"]] == [(1.0, 16.0)] * 2


def test_table_of_the_class(tmp_path: Path) -> None:
    _saved(tmp_path, _grade("ada"))
    text = _terminal(_table(tmp_path), width=160)
    for word in ("ada", "2 / 20", "views", "lines", "error", "crashed", "a person must look"):
        assert word in text
