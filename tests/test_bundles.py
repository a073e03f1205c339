"""Bundles: the published ones laid out, an instructor's own, whose cases and bands they take."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors import safe_open

from conftest import ROOT
from grader import batch, bundles
from grader.assignment import load
from grader.bands import path_of
from grader.known import reference
from grader.records import AssignmentError, BundleError

OWN = """\
version = 1
name = "support_mails"
encoder = "encoder"

[data]
train = "mails.csv"
test = "held_out.csv"
text = "body"
category = "topic"

[split]
rows = 60
seed = 7

[sizes]
train = 240
val = 60
test = 100
intents = 3
layers = 4
"""
TOPICS = ("billing", "card lost", "other")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an own bundle: the embedded encoder, mails of three topics."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "mails"
    (folder / "encoder").mkdir(parents=True)
    tiny = bundles.find("tiny").folder / "encoder"
    for path in tiny.iterdir():
        (folder / "encoder" / path.name).write_bytes(path.read_bytes())
    (folder / "bundle.toml").write_text(OWN)
    for name, count in (("mails", 300), ("held_out", 100)):
        rows = [
            f'{i},"where, please, is my {TOPICS[i % 3]} {i}",{TOPICS[i % 3]}' for i in range(count)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["number,body,topic", *rows]))
    return folder


def test_an_own_bundle_is_laid_out_under_the_courses_names(own: Path) -> None:
    found = bundles.find(str(own))
    assert found.name == bundles.named(str(own)) == "support_mails"
    assert found.weights
    assert found.rows == {"train": 240, "val": 60, "test": 100}
    lines = (found.folder / "val.csv").read_text().splitlines()
    assert lines[0] == "text,category"
    assert len(lines) == 61
    assert bundles.find(str(own)) == found
    (own / "held_out.csv").write_text((own / "held_out.csv").read_text().replace("billing", "bill"))
    with pytest.raises(BundleError, match="the test queries have an intent that no training query"):
        bundles.find(str(own))


SPOILS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no encoder": (lambda f: (f / "encoder/model.safetensors").unlink(), "no model.safetensors in"),
    "no tokenizer": (
        lambda f: [(f / "encoder" / n).unlink() for n in ("vocab.txt", "tokenizer.json")],
        "neither vocab.txt nor tokenizer.json",
    ),
    "no data": (lambda f: (f / "mails.csv").unlink(), "mails.csv: No such file"),
    "other columns": (
        lambda f: (f / "mails.csv").write_text("text,category\na,b\n"),
        "no column 'body'; it has text, category",
    ),
    "no topic": (
        lambda f: (f / "mails.csv").write_text("body,topic\na,\n"), "a query without a category"
    ),
    "not text": (
        lambda f: (f / "mails.csv").write_bytes(b"\xff\xfe\x00"), "cannot be read as a CSV"
    ),
    "sizes": (
        lambda f: (f / "bundle.toml").write_text(OWN.replace("intents = 3", "intents = 4")),
        "sizes.intents = 4: the files have 3; mend one",
    ),
    "split": (
        lambda f: (f / "bundle.toml").write_text(OWN.replace("rows = 60", "rows = 300")),
        "split.rows = 300: the training file has 300 queries",
    ),
    "both": (
        lambda f: (f / "bundle.toml").write_text(OWN.replace("[data]", '[data]\nval = "v.csv"')),
        "data.val: give either a file of validation queries or a table",
    ),
    "spelling": (
        lambda f: (f / "bundle.toml").write_text(OWN.replace("encoder =", "encodr =")),
        "encoder: this field is missing; add it",
    ),
    "like": (
        lambda f: (f / "bundle.toml").write_text(OWN.replace("[data]", 'like = "mine"\n[data]')),
        "like = 'mine'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILS)
def test_what_is_wrong_with_an_own_bundle_is_one_sentence(what: str, own: Path) -> None:
    spoil, message = SPOILS[what]
    spoil(own)
    with pytest.raises(BundleError) as problem:
        bundles.find(str(own))
    (line,) = str(problem.value).splitlines()
    assert message in line
    assert str(own) in line


def test_an_altered_layout_is_not_used(own: Path) -> None:
    found = bundles.find(str(own))
    (found.folder / "train.csv").write_text("text,category\nx,billing\n")
    with pytest.raises(
        BundleError, match=r"train\.csv: altered or incomplete .*; remove .* and try"
    ):
        bundles.find(str(own))


def test_a_lab_is_graded_on_an_own_bundle(own: Path) -> None:
    """In the cases of the bundle that it is like; what it has too few rows for is said before."""
    assignment = load("pieces", bundle=str(own), public=True)
    assert [case.bundle for case in assignment.cases] == [str(own)]
    with pytest.raises(AssignmentError, match="draws 400 rows for train, support_mails has 240"):
        batch.open_runner(assignment)
    assignment = load("random_bert", bundle=str(own), public=True)
    assert assignment.bands == load("random_bert").bands
    with batch.open_runner(assignment) as runner:
        case = assignment.cases[0]
        run = runner.run_case(assignment, case, reference(load("random_bert")))
    assert run.status == "ok", run.message


@pytest.mark.parametrize("name", ["banking77-random", "banking77-minilm"])
def test_a_bundle_without_cases_takes_those_it_is_like(name: str) -> None:
    assert bundles.like(name) == "banking77"
    cases = load("layers", bundle=name).cases
    assert {case.bundle for case in cases} == {name}
    named = load("layers", bundle="banking77").cases
    assert [case.name for case in cases] == [case.name for case in named]


def test_a_lab_about_a_pretrained_encoder_says_nothing_of_a_random_one() -> None:
    with pytest.raises(AssignmentError, match="random_bert says nothing on banking77-random"):
        load("random_bert", bundle="banking77-random")


def test_no_such_bundle() -> None:
    for call in (bundles.find, bundles.like):
        with pytest.raises(BundleError, match="there is no bundle 'huge': the bundles are tiny, "):
            call("huge")


def test_each_lab_has_bands_where_it_has_any_for_the_embedded_bundle() -> None:
    labs = ROOT / "assignments"
    for folder in sorted(path.parent for path in labs.glob("*/bands")):
        assert path_of(folder, "tiny").exists()


def test_the_random_encoder_has_the_heads_of_pretraining(shared_assets: Path) -> None:
    """71 tensors of the encoder and the nine that the lesson sees dropped; made again, the same."""
    found = bundles.find("banking77-random", shared_assets)
    with safe_open(found.folder / "encoder" / "model.safetensors", "pt") as file:
        names = list(file.keys())
    assert len([name for name in names if name.startswith("bert.")]) == 71
    assert len([name for name in names if name.startswith("cls.")]) == 9
    script = str(ROOT / "assignments" / "course" / "load_report.py")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True,
        env={"COURSE_BUNDLE": str(found.folder), "PATH": ""},
    )  # fmt: skip
    told = done.stdout.splitlines()
    assert [line.split()[0] for line in told] == sorted(n for n in names if n.startswith("cls."))
    assert all("the head that" in line for line in told)


def test_the_commands_tell_what_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("GRADER_BUNDLE_DIR", raising=False)
    command = [sys.executable, "-m", "grader", "bundles"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *words], capture_output=True, text=True)

    states = {
        row["name"]: row["state"] for row in json.loads(run("list", "--json").stdout)["bundles"]
    }
    assert states["tiny"] == "ready"
    assert states["banking77"] == "not here: grader bundles fetch banking77"
    facts = json.loads(run("check", "tiny", "--json").stdout)
    assert (facts["layers"], facts["hidden"], facts["heads"]) == (4, 256, 4)
    assert Path(run("where", "tiny").stdout.strip()) == bundles.find("tiny").folder
    missing = run("where", "banking77-minilm")
    assert missing.returncode == 2
    assert "`grader bundles fetch banking77-minilm` brings them" in missing.stderr
