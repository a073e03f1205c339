"""The embedded bundle: made by its own generator, small, hard enough, and worth loading."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertForPreTraining,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from grader.tiny import pretrain, queries
from grader.tiny.corpus import IGNORED, MASK, Corpus, Example
from grader.tiny.training import Plan, hide_words
from grader.tiny.vectors import word_vectors

ENCODER = pretrain.DATA / "encoder"
SHAPE = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4}
SHAPE |= {"intermediate_size": 1024, "max_position_embeddings": 512, "type_vocab_size": 2}


@cache
def rows(split: str) -> list[tuple[str, str]]:
    path = pretrain.DATA / f"{split}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["text"], row["category"]) for row in csv.DictReader(file)]


@cache
def tokenizer() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(ENCODER)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[^\w\s]", text.lower())


def test_generator_gives_the_committed_rows() -> None:
    for split, made in queries.build_splits().items():
        assert [(query.text, query.category) for query in made] == rows(split)


def test_another_seed_gives_other_rows() -> None:
    one, other = queries.build_splits(1), queries.build_splits(2)
    assert one["val"] != other["val"]
    assert queries.build_splits(1) == one


def test_every_file_has_its_digest() -> None:
    description = json.loads((pretrain.DATA / "bundle.json").read_text(encoding="utf-8"))
    assert {"name", "version", "about", "licence", "seed", "steps", "made_with"} < set(description)
    found = {
        path.relative_to(pretrain.DATA).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pretrain.DATA.rglob("*")
        if path.is_file() and path.name != "bundle.json"
    }
    assert found == description["sha256"]


def test_bundle_is_under_ten_megabytes() -> None:
    sizes = [path.stat().st_size for path in pretrain.DATA.rglob("*") if path.is_file()]
    assert sum(sizes) < 10_000_000


def test_splits_are_large_and_share_no_query() -> None:
    counts = {split: len(rows(split)) for split in queries.SPLITS}
    assert counts["train"] >= 1_600
    assert min(counts["val"], counts["test"]) >= 350
    texts = [text.lower() for split in queries.SPLITS for text, _ in rows(split)]
    assert len(texts) == len(set(texts)) >= 1_500
    intents = [{category for _, category in rows(split)} for split in queries.SPLITS]
    assert intents[0] == intents[1] == intents[2]
    assert len(intents[0]) >= 20


def test_no_template_is_left_unfilled() -> None:
    texts = [text for split in queries.SPLITS for text, _ in rows(split)]
    assert [text for text in texts if re.search(r"[{}|()]|  ", text)] == []
    assert any("£" in text for text in texts)
    assert any("'" in text for text in texts)


def test_some_queries_are_long() -> None:
    train = [text for text, _ in rows("train")]
    ids = tokenizer()(train)["input_ids"]
    assert 0.015 < sum(len(each) > 64 for each in ids) / len(train) < 0.06
    assert sum(len(words(text)) > 48 for text in train) / len(train) > 0.01
    assert max(map(len, ids)) <= 160


def test_pieces_of_the_training_words() -> None:
    vocabulary = Counter(word for text, _ in rows("train") for word in words(text))
    pieces = {word: tokenizer().tokenize(word) for word in vocabulary}
    cut = [word for word, parts in pieces.items() if len(parts) > 1]
    assert 0.08 < len(cut) / len(vocabulary) < 0.20
    assert sum(len(parts) >= 4 for parts in pieces.values()) >= 10
    assert all("[UNK]" not in parts for parts in pieces.values())


def test_tokenizer_is_berts() -> None:
    batch = tokenizer()(["My card?", "no"], padding=True, return_tensors="pt")
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask"}
    names = ("pad", "unk", "cls", "sep", "mask")
    ids = [getattr(tokenizer(), f"{name}_token_id") for name in names]
    assert ids == [0, 1, 2, 3, 4]
    assert batch["input_ids"][:, 0].tolist() == [2, 2]
    assert batch["input_ids"][1, -1] == 0
    lines = (ENCODER / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert {word: index for index, word in enumerate(lines)} == tokenizer().get_vocab()
    assert tokenizer().tokenize("MY CARD") == tokenizer().tokenize("my card")


def test_encoder_has_the_shape_and_its_heads() -> None:
    config = AutoConfig.from_pretrained(ENCODER)
    assert {name: getattr(config, name) for name in SHAPE} == SHAPE
    assert config.vocab_size == len(tokenizer())
    model, report = BertForPreTraining.from_pretrained(ENCODER, output_loading_info=True)
    assert not report["missing_keys"]
    assert model.dtype == torch.float32, "single precision unless asked otherwise"


@cache
def encoder(*, pretrained: bool) -> PreTrainedModel:
    if pretrained:
        return AutoModel.from_pretrained(ENCODER, dtype=torch.float32).eval()
    config = AutoConfig.from_pretrained(ENCODER)
    torch.manual_seed(42)
    return AutoModel.from_config(config).eval()


@torch.no_grad()
def layer_means(model: PreTrainedModel, texts: list[str]) -> Tensor:
    """Return the masked means of every layer, `[layers + 1, queries, hidden]`."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    means = torch.empty(model.config.num_hidden_layers + 1, len(texts), model.config.hidden_size)
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        batch = tokenizer()(
            [texts[index] for index in part],
            truncation=True, max_length=64, padding=True, return_tensors="pt",
        )  # fmt: skip
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)
        mask = batch["attention_mask"][None, :, :, None]  # [1, queries, length, 1]
        means[:, part] = (hidden * mask).sum(2) / mask.sum(2)
    return means


def validation_accuracy(train: Tensor, val: Tensor, labels: Tensor, wanted: Tensor) -> float:
    """Fit the labs' frozen head and return its accuracy on validation."""
    torch.manual_seed(42)
    head = nn.Linear(train.shape[1], int(labels.max()) + 1)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for part in torch.randperm(len(train), generator=generator).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(head(train[part]), labels[part]).backward()
            optimizer.step()
    return (head(val).argmax(1) == wanted).float().mean().item()


def test_pretrained_features_beat_random_ones() -> None:
    train, val = rows("train")[:400], rows("val")
    names = sorted({category for _, category in rows("train")})
    labels, wanted = (torch.tensor([names.index(c) for _, c in part]) for part in (train, val))
    accuracy = {}
    for pretrained in (True, False):
        means = [
            layer_means(encoder(pretrained=pretrained), [text for text, _ in part])
            for part in (train, val)
        ]
        accuracy[pretrained] = validation_accuracy(means[0][-1], means[1][-1], labels, wanted)
    assert accuracy[True] > accuracy[False] + 0.05
    assert accuracy[True] > 0.5


def test_layers_differ() -> None:
    means = layer_means(encoder(pretrained=True), [text for text, _ in rows("val")[:64]])
    for lower, upper in pairwise(means):
        assert (upper - lower).abs().mean() > 0.05


def test_words_are_hidden_as_in_bert() -> None:
    example = Example([2, *range(100, 600), 3], 502, IGNORED)
    inputs = hide_words([example] * 20, 3_000, torch.Generator().manual_seed(1))
    share = inputs.chosen.float().mean().item()
    assert share == pytest.approx(0.15, abs=0.01)
    assert not inputs.chosen[inputs.ids < 5].any(), "special tokens are never asked for"
    hidden, true = inputs.hidden[inputs.chosen], inputs.ids[inputs.chosen]
    assert (hidden == MASK).float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert (hidden == true).float().mean().item() == pytest.approx(0.1, abs=0.03)
    untouched = ~inputs.chosen
    assert torch.equal(inputs.hidden[untouched], inputs.ids[untouched])


def test_corpus_pairs_and_withholds() -> None:
    withheld = frozenset(text.lower() for split in queries.SPLITS for text, _ in rows(split))
    corpus = Corpus(tokenizer().backend_tokenizer, 5, withheld)
    examples = corpus.draw(400)
    kinds = Counter(each.apart for each in examples)
    assert min(kinds[0], kinds[1]) > 100
    assert kinds[IGNORED] > 20
    assert all(each.ids[0] == 2 and each.ids[each.first - 1] == 3 for each in examples)
    assert max(len(each.ids) for each in examples) in range(65, 129)


def test_word_vectors_know_which_words_go_together() -> None:
    examples = [Example([2, *([10, 11, 12] if i % 2 else [20, 21, 22]), 3], 5, 0) for i in range(9)]
    vectors, counts = word_vectors(examples, 30, 2)
    assert counts[10] == 4
    assert not vectors[5].any(), "an unseen word has no vector"
    near, far = (nn.functional.cosine_similarity(vectors[10], vectors[i], dim=0) for i in (11, 20))
    assert near > far + 0.5


@pytest.fixture
def small_plan() -> Plan:
    shape = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    shape |= {"max_position_embeddings": 128}
    return Plan(
        steps=3,
        tokenizer_texts=60, counted=200, batch_ids=256, round=32,
        stages=((1, 0.4), (2, 0.6)), warmup=1, shape=shape,
    )  # fmt: skip


def test_a_short_run_makes_a_whole_bundle(tmp_path: Path, small_plan: Plan) -> None:
    pretrain.make_bundle(tmp_path / "data", small_plan)
    made = {path.relative_to(tmp_path / "data").as_posix() for path in tmp_path.rglob("*.*")}
    expected = {path.relative_to(pretrain.DATA).as_posix() for path in pretrain.DATA.rglob("*.*")}
    assert expected <= made
    model = AutoModel.from_pretrained(tmp_path / "data" / "encoder", dtype=torch.float32)
    assert model.config.num_hidden_layers == 2
    assert all(weight.isfinite().all() for weight in model.parameters())
    assert [path.name for path in tmp_path.iterdir()] == ["data"], "no draft is left behind"


def test_the_command_takes_folder_and_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(pretrain, "make_bundle", lambda out, plan: calls.append((out, plan.steps)))
    arguments = ["--out", str(tmp_path), "--steps", "7"]
    monkeypatch.setattr("sys.argv", ["pretrain", *arguments])
    pretrain.main()
    assert calls == [(tmp_path, 7)]
