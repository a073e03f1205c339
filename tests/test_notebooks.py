"""Notebooks: every version and many faults of theirs become a script, or one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from downloads import WORK, notebook, written, zipped
from grader import batch, cells, notebooks
from grader.assignment import load
from grader.collect import collect
from grader.records import Assignment, Grade
from grader.runner import Runner
from grader.tree import Refused


def _script(data: bytes) -> tuple[str, list[str]]:
    notices: list[str] = []
    return notebooks.as_script(data, "x.ipynb", notices), notices


def _cells(data: bytes) -> list[str]:
    """The cells as they will be run, without the lines that only number them."""
    pieces = [piece.decode().lstrip("\n") for piece in cells.split(_script(data)[0].encode())]
    return [piece.partition("\n")[2].rstrip("\n") for piece in pieces[1:]]


# Versions and faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": "a = 1",
             "execution_count": None}]},
        {"nbformat": 4, "nbformat_minor": 0, "metadata": {}, "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": "# hi"},
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["a ", "= 1"]}]},
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": [
            {"cell_type": "heading", "level": 1, "source": "hi", "metadata": {}},
            {"cell_type": "code", "language": "python", "collapsed": False, "input": ["a = 1"],
             "outputs": [{"output_type": "pyout", "text": "1"}], "metadata": {}}]}]},
        {"nbformat": 2, "metadata": {}, "worksheets": [{"cells": [
            {"cell_type": "code", "input": "a = 1", "outputs": []}]}]},
        {"cells": [{"cell_type": "code", "code": "a = 1", "prompt_number": 1}]},
        {"cells": [{"cell_type": "code", "source": "a = 1"}]},
        {"cells": [{"source": "a = 1"}], "metadata": None, "nbformat": "4"},
        {"cells": [{"cell_type": "code", "source": "a = 1", "metadata": [], "outputs": 3}, None, 7],
         "nbformat": 99, "metadata": {"kernelspec": {"language": "julia"}}},
    ],
    ids=["4.5", "4.0", "3", "2", "1", "no metadata", "no kind", "of the future"],
)  # fmt: skip
def test_every_version(content: dict[str, object]) -> None:
    assert _cells(json.dumps(content).encode()) == ["a = 1"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "x.ipynb is no whole notebook (line 1); open it in Jupyter, save it"),
        (notebook("a = 1")[:-30], "x.ipynb is no whole notebook (line 1)"),
        (b'{"cells": 3}', "x.ipynb is no notebook that can be read"),
        (b"[]", "x.ipynb is no notebook: it has no cells"),
        (b'{"metadata": {}}', "x.ipynb is no notebook: it has no cells"),
        (b"{\n<<<<<<< HEAD\n", "x.ipynb holds the marks of a merge conflict"),
        (b"[" * 100_000, "x.ipynb is no whole notebook"),
        (b'{"cells": [' + b"1" * 5000 + b"]}", "x.ipynb is no whole notebook"),
    ],
)
def test_what_is_no_notebook_is_told(data: bytes, sentence: str) -> None:
    if data == b'{"cells": 3}':
        assert _cells(data) == []
        return
    with pytest.raises(Refused) as caught:
        _script(data)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    text = json.dumps(json.loads(notebook("ö = '日本'")), ensure_ascii=False)
    assert _cells(text.encode(encoding)) == ["ö = '日本'"]


def test_latin_1_is_mended_and_told() -> None:
    data = json.dumps(json.loads(notebook("# ö")), ensure_ascii=False).encode("latin-1")
    script, notices = _script(data)
    assert "# \N{REPLACEMENT CHARACTER}" in script
    assert notices == ["x.ipynb is not all UTF-8; odd characters were replaced"]


def test_cells_are_numbered_as_run_all_numbers_them() -> None:
    content = json.loads(notebook("a = 1", "", "  \n", "b = 2", "c = 3"))
    content["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": "text"})
    content["cells"][-2]["metadata"] = {"tags": ["grader-skip"]}
    script, notices = _script(json.dumps(content).encode())
    assert re.findall(r"# %% cell (\d+)", script) == ["1", "3"]
    assert notices == ["left out by the tag grader-skip: cell 2"]


def test_names_set_in_several_cells_are_told(tmp_path: Path) -> None:
    data = notebook("words = 1\nx = 1", "x = 2\nwords, other = 2, 3", "words == 3")
    written(tmp_path / "ada", {"pieces.ipynb": data})
    notices = collect(load("pieces"), tmp_path / "ada").notices
    assert "words is set in cells 1, 2: the value from cell 2 counts" in notices
    assert not [notice for notice in notices if notice.startswith("x ")]


def test_a_line_that_looks_like_a_mark_is_none() -> None:
    script, _ = _script(notebook("# %% cell 7\na = 1", "b = 2"))
    assert re.findall(r"^# %% cell (\d+)$", script, re.MULTILINE) == ["1", "2"]


# What only IPython knows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("%matplotlib inline\na = 1", "pass\na = 1"),
        ("!pip install torch", "pass"),
        ("if True:\n    !ls\n    a = 1", "if True:\n    pass\n    a = 1"),
        ("x = !ls", "x = []"),
        ("x = %timeit -o f()", "x = None"),
        ("x = !ls \\\n  -l\ny = 1", "x = []\n\ny = 1"),
        ("%time x = 1", "x = 1"),
        ("%%time\nx = 1\ny = 2", "\nx = 1\ny = 2"),
        ("%%capture out\n%%time\nx = 1", "\n\nx = 1"),
        ("%%bash\nrm -rf /", ""),
        ("%%writefile x.py\na = 1", ""),
        ("torch?", "pass"),
        ("  a = 1\n  b = 2", "a = 1\nb = 2"),
        (">>> a = 1\n>>> b = 2", "a = 1\nb = 2"),
        ("\n\n%cd ..\na = 1", "\n\npass\na = 1"),
        ("s = '''\n%not a magic\n!nor this\n'''", "s = '''\n%not a magic\n!nor this\n'''"),
        ("a = 7 % 3\nb = a != 3", "a = 7 % 3\nb = a != 3"),
        ("x = (1,\n%time\n", "x = (1,\n%time"),
    ],
)
def test_magics_are_inert_and_lines_stay_where_they_are(source: str, plain: str) -> None:
    found = _cells(notebook(source))
    assert found == [plain.rstrip("\n")] or found == [plain]


def test_inert_lines_are_told() -> None:
    _, notices = _script(notebook("a = 1", "!pip install x\n%matplotlib inline", "%%bash\nls"))
    assert notices == [
        "made inert, since only IPython knows it: cell 2: !pip install x; "
        "cell 2: %matplotlib inline; cell 3: %%bash"
    ]


def test_a_great_many_magics_take_little_time() -> None:
    import time

    start = time.process_time()
    _script(notebook("!ls\n" * 20_000, *["!ls\n" * 400] * 50))
    _script(notebook("=" * 200_000 + "?" * 200_000, "\n" * 300_000 + "%x", " " * 300_000 + "!"))
    assert time.process_time() - start < 10


# Any notebook -------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip
_CODE = st.text(st.sampled_from("ab=()[]{}:%!?\\\"'#\n\t ,;/>.…é"), max_size=40) | st.sampled_from(
    [
        "%time",
        "!ls \\\n",
        "x = !",
        "%%time\n%%capture\n",
        "?a??",
        "'''",
        ">>> a\n",
        "\\\n",
        "\x0c%a",
    ]
)
_SOURCE = _CODE | st.lists(_CODE, max_size=3)
_METADATA = st.dictionaries(st.sampled_from(["tags", "name", "x"]), _JSON, max_size=2)


def _v4(cells_of: list[tuple[str, str | list[str], dict[str, object]]]) -> dict[str, object]:
    made = []
    for kind, source, metadata in cells_of:
        cell = {"cell_type": kind, "source": source, "metadata": metadata}
        made.append({**cell, "outputs": [], "execution_count": None} if kind == "code" else cell)
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made}


@given(
    st.lists(
        st.tuples(st.sampled_from(["code", "markdown", "raw"]), _SOURCE, _METADATA), max_size=5
    )
)
@settings(max_examples=150, deadline=None)
def test_no_notebook_that_nbformat_accepts_crashes(
    cells_of: list[tuple[str, str | list[str], dict[str, object]]],
) -> None:
    content = _v4(cells_of)
    text = json.dumps(content)
    nbformat.reads(text, as_version=4)
    script, notices = _script(text.encode())
    for number, piece in enumerate(cells.split(script.encode())):
        assert number == 0 or b"# %% cell " in piece
    assert all("\n" not in notice for notice in notices)
    sources = ["".join(source) for kind, source, _ in cells_of if kind == "code"]
    skipped = sum("left out by the tag" in notice for notice in notices)
    count = sum(bool(source.replace("\0", "").strip()) for source in sources)
    assert skipped or script.count("# %% cell ") == count


@given(
    _JSON | st.dictionaries(st.sampled_from(["cells", "worksheets", "nbformat", "metadata"]), _JSON)
)
@settings(max_examples=150, deadline=None)
def test_other_json_is_read_or_refused(content: object) -> None:
    try:
        script, _ = _script(json.dumps(content).encode())
    except Refused:
        return
    assert script.startswith(cells.HEAD)


@given(st.lists(_CODE, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_lines_keep_their_numbers(sources: list[str]) -> None:
    """What IPython leaves as it is stands on the line on which it stood in its cell."""
    marked = [f"{source}\nmark_{number} = 1" for number, source in enumerate(sources)]
    script, _ = _script(notebook(*marked))
    lines = [f"{line}\n" for line in script.split("\n")]
    for number, source in enumerate(marked):
        for at, line in enumerate(lines, start=1):
            if line == f"mark_{number} = 1\n":
                place = cells.place(lines, at)
                assert place == f"cell {number + 1}, line {source.count(chr(10)) + 1}"


# Collected and graded -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files",
    [
        {"pieces.ipynb": notebook("words = 1")},
        {"Pieces (1).ipynb": notebook("words = 1")},
        {"hw.zip": zipped({"hw/pieces_final.ipynb": notebook("words = 1")})},
    ],
)
def test_notebook_is_taken_for_the_script(tmp_path: Path, files: dict[str, bytes]) -> None:
    found = collect(load("pieces"), written(tmp_path / "ada", files))
    assert found.entry is not None
    assert found.entry.endswith(".py")
    assert b"# %% cell 1\nwords = 1\n" in found.files[found.entry]
    assert not [name for name in found.files if name.endswith(".ipynb")]
    assert any("as the script" in notice for notice in found.notices)


def test_of_stub_and_notebook_the_one_that_was_worked_on_is_taken(tmp_path: Path) -> None:
    lab = load("pieces")
    stub = (lab.folder / lab.file).read_bytes()
    both = {"pieces.py": stub.replace(b"\n", b"\r\n"), "pieces.ipynb": notebook("words = 1")}
    found = collect(lab, written(tmp_path / "ada", both))
    assert b"# %% cell 1" in found.files["pieces.py"]
    found = collect(lab, written(tmp_path / "ben", {**both, "pieces.py": WORK}))
    assert found.files["pieces.py"] == WORK


def _as_notebook(script: str) -> bytes:
    """A script cut into cells at its blank lines before unindented code."""
    return notebook("%matplotlib inline", *re.split(r"\n\n+(?=[^\s)\]}])", script))


@pytest.mark.parametrize("name", ["pieces", "layers", "random_bert"])
def test_a_solution_as_a_notebook_earns_what_the_script_earns(
    runner: Runner, tmp_path: Path, name: str
) -> None:
    lab = load(name)
    script = (ROOT / "solutions" / name / f"{name}.py").read_text("utf-8")
    written(tmp_path / "ada", {f"{name}.ipynb": _as_notebook(script)})
    submission = collect(lab, tmp_path / "ada")
    ((grade, _),) = batch.grade_all(lab, [submission], runner)
    lost = [(check.name, check.message) for check in grade.checks if check.status != "passed"]
    assert lost == []
    assert grade.points == pytest.approx(grade.possible)


def _graded(runner: Runner, lab: Assignment, folder: Path) -> Grade:
    ((grade, _),) = batch.grade_all(lab, [collect(lab, folder)], runner)
    return grade


def test_tracebacks_name_cells(runner: Runner, tmp_path: Path) -> None:
    lab = load("pieces", case="public")
    broken = notebook("import text\n!ls", "def f():\n    x = 1\n    return 1 / 0\n", "a = 1\n\nf()")
    written(tmp_path / "ada", {"pieces.ipynb": broken})
    (run,) = _graded(runner, lab, tmp_path / "ada").runs
    assert run.status == "error"
    assert run.message is not None
    assert "  cell 3, line 3: f()" in run.message
    assert "  cell 2, line 3, in f: return 1 / 0" in run.message


def test_cells_before_a_broken_one_count(runner: Runner, tmp_path: Path) -> None:
    lab = load("pieces", case="public")
    solution = (ROOT / "solutions" / "pieces" / "pieces.py").read_text("utf-8")
    written(tmp_path / "ada", {"pieces.ipynb": notebook(solution, "x = (1,\n\ny = '", "z = 1")})
    grade = _graded(runner, lab, tmp_path / "ada")
    (run,) = grade.runs
    assert run.status == "error"
    assert "SyntaxError" in (run.message or "")
    assert "  cell 2, line 3" in (run.message or "")
    assert grade.points > 0
