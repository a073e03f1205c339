"""The published numbers, on the published data: the labs' references against the lesson."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bundles
from grader.assignment import load
from grader.known import reference
from grader.records import BundleError, Case, Run, Submission
from grader.runner import Runner

#: The random half of `random_bert`, as the lesson writes it; the configuration is BERT-Mini's.
RANDOM_HALF = """
import torch
from encoder import batches, labels, pooled
from image_loop import loss_fn
from text import intents, train, val
from torch import nn
from transformers import AutoModel, BertConfig

config = BertConfig(
    vocab_size=30522, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
    intermediate_size=1024,
)
torch.manual_seed(42)
random = AutoModel.from_config(config).eval()


def features(model, df):
    with torch.no_grad():
        return torch.cat([pooled(model, batch) for batch, _ in batches(df, 64)])


def fit(F, Y, G, Z):
    torch.manual_seed(42)
    head = nn.Linear(256, len(intents))
    adam = torch.optim.Adam(head.parameters(), lr=0.001)
    shuffle = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in torch.randperm(len(F), generator=shuffle).split(32):
            adam.zero_grad()
            loss_fn(head(F[rows]), Y[rows]).backward()
            adam.step()
    return [float((head(X).argmax(1) == y).float().mean()) for X, y in ((F, Y), (G, Z))]


F, G = features(random, train), features(random, val)
accuracies = fit(F, labels(train), G, labels(val))
unit = F / F.norm(dim=1, keepdim=True)
cosine = float(unit.sum(0).pow(2).sum() / len(F) ** 2)
"""

PROBE = """
def results(m):
    return {"train": m.accuracies[0], "val": m.accuracies[1], "cosine": m.cosine}
"""


@pytest.fixture(scope="module")
def real_runner(shared_assets: Path) -> Iterator[Runner]:
    with Runner({"banking77": bundles.find("banking77", shared_assets)}) as runner:
        yield runner


def test_pieces_prints_the_published_lines(real_runner: Runner) -> None:
    assignment = load("pieces", case="full")
    run = real_runner.run_case(assignment, assignment.cases[0], reference(assignment))
    counts, words, totals = run.output.splitlines()
    assert counts == "2200 1918 282"
    assert totals == "111243 113998 1.025"
    cut = dict(entry.split(": ") for entry in words.split("; "))
    assert list(cut) == [
        "cryptocurrency", "unexplained", "beneficiairy", "witdhrawals", "disposable",
    ]  # fmt: skip
    pieces = run.values["pieces"]
    assert isinstance(pieces, dict)
    most = sorted((len(found) for found in pieces.values()), reverse=True)[:5]
    assert [len(found.split()) for found in cut.values()] == most


@pytest.mark.slow
def test_random_half_gives_the_published_numbers(real_runner: Runner) -> None:
    """0.7831 and 0.7195 to four decimals, the cosine 0.935 to three, on all 8,003 rows."""
    case = Case("full", "banking77", None, None, None, 0, 1, False, seconds=900, memory_mb=2048)
    submission = Submission("lesson", {"half.py": RANDOM_HALF.encode()}, "half.py")
    course = load("pieces").course
    run = real_runner.launch(course, case, submission, [("probes.py", PROBE)])
    results = run.values["results"]
    assert isinstance(results, dict), run
    assert f"{results['train']:.4f} {results['val']:.4f}" == "0.7831 0.7195"
    assert f"{results['cosine']:.3f}" == "0.935"


def test_missing_weights_are_told_in_one_sentence(
    real_runner: Runner, tmp_path: Path, shared_assets: Path
) -> None:
    found = bundles.find("banking77", shared_assets)
    assert not found.weights
    assignment = load("pieces", case="full")
    script = b"from encoder import load\nmodel = load()\n"
    run: Run = real_runner.run_case(
        assignment, assignment.cases[0], Submission("x", {"pieces.py": script}, "pieces.py")
    )
    assert run.status == "error"
    assert "the encoder's weights are missing: put model.safetensors into" in str(run.message)


def test_altered_data_is_never_used(shared_assets: Path, tmp_path: Path) -> None:
    for path in shared_assets.rglob("*"):
        if path.name in ("train.csv", "test.csv", "vocab.txt"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    changed = (tmp_path / "train.csv").read_bytes()[:-1]
    (tmp_path / "train.csv").write_bytes(changed)
    with pytest.raises(BundleError, match=r"train\.csv: altered or incomplete"):
        bundles.find("banking77", tmp_path)
    (tmp_path / "train.csv").unlink()
    with pytest.raises(BundleError, match=r"no train\.csv in"):
        bundles.find("banking77", tmp_path)
