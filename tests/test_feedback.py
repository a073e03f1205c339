"""What a student is told: the same everywhere, of hidden checks no more than was chosen."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from conftest import ROOT
from grader import cells, plots, render, store
from grader.assignment import load
from grader.compare import close, noting, within
from grader.compared import MAX_ROWS, compared
from grader.excerpts import Excerpts
from grader.feedback import feedback
from grader.guarded import GAP, guard
from grader.records import (
    Assignment,
    AssignmentError,
    Check,
    Compared,
    Disclosure,
    Grade,
    Run,
    Series,
    Submission,
)
from grader.words import words

SOURCE = """\
import torch

T, V = views(train), views(val)


@torch.no_grad()
def views(df):
    return {
        "mean 0": df,
    }

def fit(F, Y):
    raise ValueError("no")
heads: dict = {
    name: fit(T[name], V) for name in T
}
scores = {}
"""
SUBMISSION = Submission("ada", {"layers.py": SOURCE.encode(), "more.py": b"x = 1\n"}, "layers.py")


def _check(**fields: Any) -> Check:
    made = Check(
        name="views", part="views", points=2.0, earned=0.0, status="failed", case="public",
        hidden=False, asked="Are the `views` right?", message="a message", hint="a hint",
    )  # fmt: skip
    return replace(made, **fields)


def _lab(**fields: Any) -> Assignment:
    return replace(load("layers"), **fields)


def _grade(*checks: Check, **runs: Any) -> Grade:
    run = Run("public", "ok", None, output="epoch 1 loss 2.5\n", seconds=1.0, memory_mb=50.0)
    hidden = replace(run, case="hidden", output="PRINTED")
    return Grade("layers", "ada", 0.0, 20.0, False, ("a notice",), (run, hidden), checks)


def _texts(shown: dict[str, Any]) -> dict[str, str]:
    """The three formats of it, on one line each."""
    stream = io.StringIO()
    render.print_feedback(Console(file=stream, width=4000, no_color=True), shown)
    html = re.sub(r"<(style|svg).*?</\1>", "", render.page("feedback.html", shown), flags=re.DOTALL)
    markdown = re.sub(r"\\([^\w\s])", r"\1", render.page("feedback.md", shown))
    plain = {
        "html": re.sub(r"<[^>]*>", "", html),
        "md": markdown.replace("**", "").replace("`", ""),
        "terminal": stream.getvalue().replace("`", ""),
    }
    return {kind: " ".join(_unescaped(text).split()) for kind, text in plain.items()}


def _unescaped(text: str) -> str:
    for code, sign in (
        ("&#39;", "'"),
        ("&#34;", '"'),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ):
        text = text.replace(code, sign)
    return text


def _strings(value: Any) -> Iterator[str]:
    """Every text of the data that a reader is to see."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        silent = {"words", "status", "state", "kind", "names", "spark", "assignment"}
        for name, item in value.items():
            if name not in silent:
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _full() -> Grade:
    """A grade with something in every place."""
    public = _check(
        probes=("views",),
        diagnosis="The mean was taken over the padding.",
        compared=tuple(
            Compared(f"views[mean {i}]", f"float32 [2, {i}], [0] = 1", "—", f"0.{i}")
            for i in range(MAX_ROWS + 1)
        ),
        series=(Series("rows", "views[mean 0]", ("0", "1", "2", "3"), (0.1, 0.0, None, 1.0)),),
        message="first\n  layers.py, line 13, in fit: raise ValueError",
    )
    passed = _check(name="fit", part="fit", status="passed", earned=2.0, message=None, hint=None)
    hidden = _check(case="hidden", hidden=True, hint="another hint")
    grade = _grade(public, passed, hidden)
    broken = replace(grade.runs[0], status="error", message="KeyError: 'x'")
    lines = "".join(f"epoch {i} loss {3 - i / 10}\n" for i in range(20))
    return replace(
        grade,
        runs=(replace(broken, output=lines, errors="a warning"), grade.runs[1]),
        review=True,
    )


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_three_formats_say_the_same_in_the_same_words(language: str) -> None:
    shown = feedback(_lab(language=language), _full(), SUBMISSION)
    json.dumps(shown, allow_nan=False)  # it is plain data
    texts = _texts(shown)
    found = [" ".join(text.replace("`", "").split()) for text in _strings(shown)]
    assert len(found) > 60
    for text in found:
        for kind, page in texts.items():
            assert text in page, (kind, text)
    labels = ("came", "hint", "diagnosis", "where", "compared", "received", "largest_error")
    for name in labels:
        for kind, page in texts.items():
            assert shown["words"][name] in page, (kind, name)
    for plot in shown["parts"][0]["checks"][0]["plots"]:
        for label, blocks in plot["spark"]:
            assert blocks in texts["md"], label
            assert blocks in texts["terminal"], label


def test_german_pages_have_no_english_word_of_ours() -> None:
    english, german = (words(_lab(language=language)) for language in ("en", "de"))
    assert set(german) == set(english)
    same = {name for name in english if english[name] == german[name]}
    assert same == set()
    shown = _texts(feedback(_lab(language="de"), _full(), SUBMISSION))
    for kind, page in shown.items():
        assert "13,5" not in page
        for word in ("on your data", "What came", "Look at", "In your file", "seconds"):
            assert word not in page, kind


# The lines of the file ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probe", "lines"),
    [
        ("views", [(7, 10)]), ("T", [(3, 3)]), ("fit", [(12, 13)]), ("heads", [(14, 16)]),
        ("scores", [(17, 17)]), ("chosen", []), ("no_probe", []), ("long_query", [(7, 10)]),
    ],
)  # fmt: skip
def test_lines_where_a_probes_names_are_defined(probe: str, lines: list[tuple[int, int]]) -> None:
    found = Excerpts(_lab(), SUBMISSION).of(_check(probes=(probe,)))
    assert [(file, first, last) for file, first, last, _ in found] == [
        ("layers.py", *pair) for pair in lines
    ]
    for _, first, last, text in found:
        for number in range(first, last + 1):
            assert SOURCE.splitlines()[number - 1] in text


def test_lines_that_a_traceback_names_come_first() -> None:
    message = (
        "ValueError: no\n  layers.py, line 13, in fit: raise\n  more.py, line 1: x\n"
        "  more.py, line 99: y\n  ../secret.py, line 1: z"
    )
    found = Excerpts(_lab(), SUBMISSION).of(_check(probes=("views",), message=message))
    assert [(file, first) for file, first, _, _ in found] == [("layers.py", 13), ("more.py", 1)]
    assert '>   13      raise ValueError("no")' in found[0][3]


def test_lines_of_a_notebook_are_told_by_cell() -> None:
    script = cells.join(
        [(1, "T = V = 1"), (3, "x = 0\ndef views(df):\n    return 1"), (7, "T = 2\n\nraise E")]
    )
    lab = Excerpts(_lab(), Submission("ada", {"layers.py": script.encode()}, "layers.py"))
    (views,), (last_set,) = lab.of(_check(probes=("views",))), lab.of(_check(probes=("T",)))
    assert views[:3] == ("cell 3", 2, 3)
    assert "def views(df):" in views[3]
    assert last_set[:3] == ("cell 7", 1, 1)
    (raised,) = lab.of(_check(message="E: no\n  cell 7, line 3: raise E\n  cell 2, line 1: y"))
    assert raised[:3] == ("cell 7", 3, 3)
    assert ">    3  raise E" in raised[3]


@pytest.mark.parametrize(
    "source",
    [b"", b"\x00\xff" * 50_000, b"views = " * 40_000, b" " * 300_000, b"(" * 300_000,
     b"def views(" + b"x, " * 90_000, b"\n" * 300_000, "views =\u2028".encode() * 20_000],
)  # fmt: skip
def test_lines_of_a_hostile_file_are_found_in_bounded_time(source: bytes) -> None:
    submission = Submission("ada", {"layers.py": source}, "layers.py")
    for _, _, _, text in Excerpts(_lab(), submission).of(_check(probes=("views",))):
        assert len(text) < 3_000


# Expected against received ------------------------------------------------------------------------


def _compared(mine: Any, ours: Any, **fields: Any) -> Check:
    check = _check(probes=("views",), **fields)
    runs = (Run("public", "ok", None, {"views": mine}),)
    (found,) = compared(
        _lab(), (check,), {"public": Run("public", "ok", None, {"views": ours})}, runs
    )
    return found


def test_tensors_by_type_shape_and_the_worst_entry() -> None:
    ours = torch.zeros(5, 3)
    mine = ours.clone()
    mine[3, 1] = 0.25
    found = _compared({"rows": mine}, {"rows": ours})
    assert found.compared == (
        Compared(
            "views[rows]", "float32 [5, 3], [3, 1] = 0", "float32 [5, 3], [3, 1] = 0.25", "0.25"
        ),
    )
    (rows,) = found.series
    assert (rows.kind, rows.received) == ("rows", (0.0, 0.0, 0.0, 0.25, 0.0))


@pytest.mark.parametrize(
    ("mine", "ours", "expected", "received"),
    [
        (torch.zeros(2, 3), torch.zeros(3, 2), "float32 [3, 2]", "float32 [2, 3]"),
        (3, 4, "4", "3"),
        ("a b", "c", "'c'", "'a b'"),
        (["a", "b"], ["a", "c"], "list[2], [1] = 'c'", "list[2], [1] = 'b'"),
        (["a"], ["a", "c"], "list[2], [1] = 'c'", "list[1], [1] = —"),
        ("a", 4, "4", "'a'"),
        (torch.ones(3), 4, "4", "float32 [3]"),
        ({"x": 1}, {"y": 1}, "1", "—"),
    ],
)
def test_other_values_side_by_side(mine: Any, ours: Any, expected: str, received: str) -> None:
    row = _compared(mine, ours).compared[0]
    assert (row.expected, row.received) == (expected, received)


def test_what_a_check_allows_is_not_off() -> None:
    assert _compared(0.5, 0.51, allowed=0.02).compared == ()
    assert len(_compared(0.5, 0.51, allowed=0.001).compared) == 1
    assert len(_compared(0.5, 0.51).compared) == 1


def test_an_answer_is_told_once_and_only_of_lost_checks() -> None:
    run = Run("public", "ok", None, {"views": 1})
    expected = {"public": Run("public", "ok", None, {"views": 2})}
    checks = [_check(probes=("views",), status=s) for s in ("passed", "error", "failed", "partial")]
    found = compared(_lab(), tuple(checks), expected, (run,))
    assert [len(check.compared) for check in found] == [0, 0, 1, 0]


def test_values_that_are_not_finite_are_plain_data() -> None:
    mine = torch.tensor([[1.0, 2.0]] * 3 + [[float("nan"), float("inf")]])
    found = _compared({"rows": mine}, {"rows": torch.ones(4, 2)})
    assert found.series[0].received == (1.0, 1.0, 1.0, None)
    grade = replace(_grade(found), runs=())
    text = json.dumps(store.grade_as_json(grade), allow_nan=False)
    assert store.grade_from_json(json.loads(text)) == grade
    json.dumps(feedback(_lab(), grade), allow_nan=False)


def test_a_dict_of_thousands_keeps_the_table_short() -> None:
    ours = {f"word {i}": ["a", "b"] for i in range(3_000)}
    mine = {name: ["a"] for name in ours} | {"x" * 100_000: ["a"]}
    found = _compared(mine, ours)
    assert len(found.compared) == MAX_ROWS + 1
    shown = feedback(_lab(), _grade(found))["parts"][0]["checks"][0]
    assert len(shown["compared"]) == MAX_ROWS
    assert "More values differ" in shown["more"]
    assert max(len(row["what"]) for row in shown["compared"]) < 100


def test_numbers_by_name_have_the_band_that_the_check_used() -> None:
    ours = {"mean 0": 0.5, "mean 1": 0.75, "mean 2": 0.25}
    found = _compared({**ours, "mean 1": 0.5}, ours, allowed=0.1)
    (series,) = found.series
    assert (series.kind, series.names, series.allowed) == ("numbers", tuple(ours), 0.1)
    shown = plots.plot(series, words(_lab()))
    assert "1 of 3 are off, the furthest is mean 1 by 0.25" in shown["title"]
    assert [blocks for _, blocks in shown["spark"]] == ["▅█▁", "▅▅▁"]


def test_comparisons_tell_what_they_allow() -> None:
    with noting() as outer:
        within(0.5, 0.5, "x", 0.25)
        close(torch.ones(2), torch.ones(2), "y", atol=1e-3)
        close(torch.ones(2), torch.ones(2), "z", rtol=0.1)
        with noting() as inner:
            within(1, 1, "x", 2.0)
    assert (outer, inner) == ([0.25, 1e-3], [2.0])
    within(1, 1, "x", 2.0)
    assert len(outer) == 2


# Plots --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rows", "names", "numbers"])
@pytest.mark.parametrize(
    "received", [(0.0,) * 4, (None,) * 4, (1.0, None, 1e-9, 1e30), (1e-300, 1.0, 2.0, 3.0)]
)
def test_a_plot_is_a_bare_drawing_in_the_pages_colours(kind: Any, received: Any) -> None:
    expected = (0.0, 0.5, 1.0, 0.25) if kind == "numbers" else ()
    series = Series(kind, "scores", ("a", "b", "c", "d"), received, expected, 0.02)
    drawn = plots.svg(plots.plot(series, words(_lab())))
    assert drawn.startswith("<svg viewBox=")
    assert drawn.rstrip().endswith("</svg>")
    assert " id=" not in drawn
    assert "href" not in drawn
    assert not re.search(r"#[0-9a-f]{6}", drawn)
    assert set(re.findall(r"<(\w+)", drawn)) <= {"svg", "g", "path"}


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (
            "\n".join(f"epoch {i}: loss={2 / (i + 1):.4f}" for i in range(6)),
            "6 steps, from 2 to 0.333",
        ),
        ("\n".join(f"Loss {i}e-2" for i in range(9, 3, -1)), "6 steps, from 0.09 to 0.04"),
        ("loss 1\n" * 4, None), ("nothing\n" * 100, None), ("loss of heart\n" * 100, None),
        ("loss 1e999\n" * 10, None), ("loss " + "9" * 5_000, None), ("", None),
    ],
)  # fmt: skip
def test_a_training_curve_where_losses_are_printed(output: str, found: str | None) -> None:
    shown = plots.curve(output, words(_lab()))
    assert (shown is None) == (found is None)
    if shown is not None and found is not None:
        assert shown["title"].endswith(found)
        assert "currentColor" in plots.svg(shown)


# Disclosure ---------------------------------------------------------------------------------------

TOLD = (
    "views, mean 2: expected 41.25, got 17.5; 'card_arrival' is missing, Quokka too: True, "
    "torch.float32 [3, 77]"
)


def _told(level: Disclosure, message: str = TOLD, faults: Any = ()) -> dict[str, Any]:
    """What is shown of a hidden check that was lost."""
    assignment = _lab(disclosure={"views": level, "default": "name"})
    check = _check(
        case="hidden", hidden=True, message=message, probes=("views",),
        compared=(Compared("views", "41.25", "17.5", "23.75"),),
        series=(Series("rows", "views", ("0", "1"), (23.75, 0.0)),),
    )  # fmt: skip
    runs = tuple(Run(case.name, "ok", None, {}, dict(faults), "", "") for case in assignment.cases)
    expected = {run.case: replace(run, output="Quokka", faults={}) for run in runs}
    checks = guard(assignment, (check,), expected, runs, SUBMISSION.files)
    shown = feedback(assignment, _grade(*checks), SUBMISSION)
    for text in _texts(shown).values():
        assert ("23.75" in text) == (level == "all")
    found: dict[str, Any] = shown["parts"][0]["checks"][0]
    return found


def test_by_name_a_hidden_check_tells_its_question_and_hint() -> None:
    found = _told("name")
    assert (found["asked"], found["hint"]) == ("Are the `views` right?", "a hint")
    assert found["message"] is None
    assert found["compared"] == found["plots"] == found["excerpts"] == []


def test_by_message_no_value_is_told() -> None:
    found = _told("message")
    assert found["message"] == (
        f"views, mean {GAP}: expected {GAP} got {GAP}; {GAP} is missing, {GAP} too: {GAP}, "
        f"torch.float32 [{GAP} {GAP}]"
    )
    assert found["compared"] == found["plots"] == []
    assert found["excerpts"]


def test_all_tells_everything() -> None:
    found = _told("all")
    assert found["message"] == TOLD
    assert found["compared"][0]["expected"] == "41.25"
    assert found["plots"]


def test_what_a_submission_raises_carries_nothing_out_of_a_hidden_run() -> None:
    """It has seen the hidden rows, and may put them into messages, names and sources."""
    fault = (
        "ValueError: the queries are: where is my card\n"
        "  layers.py, line 13, in where_is_my_card: my card\n  my card.py, line 2: x"
    )
    found = _told("message", fault, {"views": fault})
    assert found["message"] == "ValueError\n  layers.py, line 13"
    cell = "ValueError: my card\n  cell 7, line 3: my card\n  cell my card, line 2: x"
    assert _told("message", cell, {"views": cell})["message"] == "ValueError\n  cell 7, line 3"
    own = "QueryIsWhereIsMyCard: x"
    assert _told("message", own, {"views": own})["message"] == GAP


def test_a_public_check_is_told_whatever_the_level() -> None:
    shown = feedback(_lab(disclosure={"default": "name"}), _grade(_check()), SUBMISSION)
    assert shown["parts"][0]["checks"][0]["message"] == "a message"


# Words --------------------------------------------------------------------------------------------


def test_a_folder_of_templates_changes_words_and_looks(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text('hint = "Think of"\n', "utf-8")
    (tmp_path / "style.css").write_text("body { color: rebeccapurple }", "utf-8")
    shown = feedback(_lab(templates=tmp_path), _full(), SUBMISSION)
    page = render.page("feedback.html", shown, tmp_path)
    assert "Think of" in page
    assert "rebeccapurple" in page
    assert "What came" in page
    assert "rebeccapurple" not in render.page("feedback.html", shown)


def test_a_folder_may_bring_a_language_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "fr.toml").write_text('came = "Ce qui est venu"\n', "utf-8")
    found = words(_lab(templates=tmp_path, language="fr"))
    assert (found["came"], found["hint"]) == ("Ce qui est venu", "Look at")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('nothing = "x"', "nothing: there is no such text"),
        ('share = "{earned} {secret}"', "share: there is nothing for {secret}"),
        ('share = "{earned.__class__}"', "share: there is nothing for {earned.__class__}"),
        ('share = "{"', "share: "),
        ("share = 3", "share: put this text between quotes"),
        ("share", "cannot be read"),
    ],
)
def test_wrong_words_are_told_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "en.toml").write_text(text, "utf-8")
    with pytest.raises(AssignmentError, match=re.escape(told)) as problem:
        words(_lab(templates=tmp_path))
    assert str(tmp_path / "en.toml") in str(problem.value)


def test_a_language_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AssignmentError, match=r"there are de, en; add xx\.toml"):
        words(_lab(language="xx"))
    with pytest.raises(AssignmentError, match="no such folder of templates"):
        words(_lab(templates=tmp_path / "nowhere"))


def test_templates_are_where_the_readme_says() -> None:
    assert {"en.toml", "de.toml"} <= {path.name for path in (ROOT / "templates").iterdir()}
