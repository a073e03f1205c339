"""Mutants of a solution: which are made, what becomes of them, how equivalent ones are marked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conftest import ROOT
from grader import matrix
from grader.assignment import load
from grader.mutants import BEGIN, END, mutants
from grader.mutation import Mutation, mutate
from grader.records import AssignmentError
from grader.runner import Runner
from grader.verify import verify
from small_course import change, copy_course


def made(line: str) -> dict[str, str]:
    """The kinds of mutants of a line, by what it becomes."""
    return {one.after: one.kind for one in mutants(f"{BEGIN}\n{line}\n{END}\n")}


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("y = a < b", "another comparison", "y = a <= b"),
        ("y = a == b", "another comparison", "y = a != b"),
        ("y = [w for w in vocab if w]", "a dropped condition", "y = [w for w in vocab]"),
        ("y = h.sum(1)", "another axis", "y = h.sum(0)"),
        ("y = h.sum(1)", "another reduction", "y = h.mean(1)"),
        ("y = h.argmax(-1)", "another axis", "y = h.argmax(-2)"),
        ("y = m.unsqueeze(-1)", "a dropped unsqueeze", "y = m"),
        ("y = h[:, 0]", "off-by-one index", "y = h[:, 1]"),
        ("y = h[:, 0]", "off-by-one index", "y = h[:, -1]"),
        ("y = (h * mask).sum(1)", "a missing mask", "y = h.sum(1)"),
        ("y = model(**batch)", "a missing mask", 'y = model(input_ids = batch["input_ids"])'),
        ("y = model.eval()", "train() for eval()", "y = model.train()"),
        ("torch.manual_seed(42)", "another seed", "torch.manual_seed(43)"),
        ("torch.manual_seed(42)", "a removed line", "pass"),
        ("y = Adam(p, lr=0.001)", "another constant", "y = Adam(p, lr=0.002)"),
        ("y = Adam(p, lr=0.001)", "a dropped argument", "y = Adam(p, )"),
        ("y = loss(a, b)", "a swapped argument", "y = loss(b, a)"),
        ("y = sum(a)", "another reduction", "y = max(a)"),
        ("y = labels(train)", "other rows", "y = labels(val)"),
        ("y = sorted(a, reverse=True)", "the other truth", "y = sorted(a, reverse=False)"),
        ("y = a / b", "another operation", "y = a * b"),
        ("y = a / b", "a dropped operand", "y = a"),
        ('y = {"<pad>", "<unk>"}', "a removed element", 'y = {"<unk>"}'),
        ('print(f"{a:.3f}")', "fewer decimals", 'print(f"{a:.2f}")'),
    ],
)
def test_what_is_made_of_a_line(line: str, kind: str, after: str) -> None:
    assert made(line).get(after) == kind, made(line)


def test_names_that_are_written_stay() -> None:
    assert not [after for after, kind in made("F, train = f(a)").items() if kind == "other rows"]


def test_only_the_solution_is_changed() -> None:
    source = f'"""1 < 2"""\nimport a\nx = 1 < 2\n{BEGIN}\ny = 3 < 4\n{END}\nz = 5 < 6\n'
    found = mutants(source)
    assert found
    assert {one.line for one in found} == {5}
    for one in found:
        assert one.source.count("x = 1 < 2\n") == one.source.count("z = 5 < 6\n") == 1
        assert one.before == "y = 3 < 4"


@pytest.mark.parametrize("lab", ["pieces", "random_bert", "layers"])
def test_mutants_of_the_labs_differ_from_the_solution_and_one_another(lab: str) -> None:
    source = (ROOT / "solutions" / lab / f"{lab}.py").read_text("utf-8")
    found = mutants(source)
    programs = [ast.dump(ast.parse(one.source)) for one in found]
    assert len(set(programs)) == len(programs) > 30
    assert ast.dump(ast.parse(source)) not in programs
    kinds = {one.kind for one in found}
    assert {"a removed line", "a swapped argument", "another axis", "other rows"} <= kinds


def test_a_solution_without_markers() -> None:
    with pytest.raises(ValueError, match="BEGIN SOLUTION"):
        mutants("x = 1\n")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADER_COURSE", str(tmp_path))
    return copy_course(tmp_path)


def after(tested: Mutation) -> list[str]:
    return [one.mutant.after for one in tested.survivors]


def test_all_mutants_are_killed_by_a_check_that_looks(course: Path, runner: Runner) -> None:
    tested = mutate(load("means"), runner)
    assert tested.kill_rate == 1
    assert not tested.survivors
    assert not tested.problems
    assert sum(tested.counts.values()) == len(tested.outcomes) > 8
    assert tested.by_check == {("means", "means"): (len(tested.outcomes), len(tested.outcomes))}
    assert {"killed by a value", "killed by an error"} >= set(tested.counts)


def test_survivors_of_a_check_that_looks_away(course: Path, runner: Runner) -> None:
    """With masks of ones alone, what the mask is for cannot be seen."""
    change(course / "assignments" / "means" / "probes.py", "[1, 1, 1, 0]", "[1, 1, 1, 1]")
    assignment = load("means")
    tested = mutate(assignment, runner)
    without, divided = after(tested)
    assert without == "return hidden.sum(1) / mask.sum(1)"
    assert divided == "return (hidden / mask).sum(1) / mask.sum(1)"
    assert tested.survivors[0].mutant.diff.splitlines() == [
        "-    return (hidden * mask).sum(1) / mask.sum(1)",
        "+    return hidden.sum(1) / mask.sum(1)",
    ]
    assert 0 < tested.kill_rate < 1
    found = verify(assignment, runner)
    assert not matrix.holds(found, tested)
    html = matrix.page([(found, tested)])
    assert "a missing mask" in html
    assert "+    return hidden.sum(1) / mask.sum(1)" in html


def test_equivalent_mutants_are_explained_once(course: Path, runner: Runner) -> None:
    change(course / "assignments" / "means" / "probes.py", "[1, 1, 1, 0]", "[1, 1, 1, 1]")
    marked = course / "solutions" / "means" / "equivalent.toml"
    marked.write_text("""\
[[mutants]]
line = "return (hidden * mask).sum(1) / mask.sum(1)"
becomes = "return hidden.sum(1) / mask.sum(1)"
reason = "No query has padding."

[[mutants]]
line = "return (hidden * mask).sum(1) / mask.sum(1)"
becomes = "return (hidden / mask).sum(1) / mask.sum(1)"
reason = "A mask of ones divides as it multiplies."

[[mutants]]
line = "return hidden"
becomes = "pass"
reason = "It was there once."

[[mutants]]
line = "mask = mask.unsqueeze(-1)"
becomes = "pass"
reason = "It is thought to change nothing."
""")
    tested = mutate(load("means"), runner)
    assert not tested.survivors
    assert tested.kill_rate == 1
    assert tested.counts["equivalent"] == 2
    assert tested.equivalent[0].reason == "No query has padding."
    gone, killed = tested.problems
    assert "'return hidden' becoming 'pass': there is no such mutant; remove the entry" in gone
    assert "'mask = mask.unsqueeze(-1)' becoming 'pass': one is killed by" in killed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[mutants]]\nline = "a"\nbecomes = "b"\n', "reason: this field is missing"),
        ('[[mutants]]\nline = "a"\nbecomes = "b"\nreason = ""\n', "mutants.0.reason = ''"),
        ("[[mutant]]\n", "this field is missing"),
        ("mutants = [", "not valid TOML"),
    ],
)
def test_a_file_of_equivalent_mutants_that_is_wrong(
    text: str, message: str, course: Path, runner: Runner
) -> None:
    (course / "solutions" / "means" / "equivalent.toml").write_text(text)
    with pytest.raises(AssignmentError) as caught:
        mutate(load("means"), runner)
    assert "equivalent.toml: " in str(caught.value)
    assert message in str(caught.value)


def test_a_lab_without_markers_is_told(course: Path, runner: Runner) -> None:
    change(course / "solutions" / "means" / "means.py", "# BEGIN SOLUTION", "# Begin")
    with pytest.raises(AssignmentError, match=r"means\.py: the lines '# BEGIN SOLUTION'"):
        mutate(load("means"), runner)
