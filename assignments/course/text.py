"""The queries as frames, words and ids, as the lesson on text hands them out."""

import re
from collections import Counter

import torch
from torch.utils.data import TensorDataset

import course_bundle
from course_bundle import intents

#: Frames with the columns `text` and `category`.
train, val, test = course_bundle.train, course_bundle.val, course_bundle.test

_LENGTH = 48


def tokenize(text: str) -> list[str]:
    """The words of a query, lower-cased: runs of letters and digits, or single marks."""
    return re.findall(r"[a-z0-9]+|[^\w\s]", text.lower())


def _vocabulary() -> dict[str, int]:
    """Word -> id, by falling count in the training queries, ties by first appearance."""
    counts = Counter(word for text in train["text"] for word in tokenize(text))
    ordered = [word for word, _ in counts.most_common()]
    return {word: i for i, word in enumerate(["<pad>", "<unk>", *ordered])}


vocab = _vocabulary()


def _dataset(frame) -> TensorDataset:
    """Word ids `[queries, 48]`, cut or padded, and labels `[queries]`."""
    ids = torch.zeros(len(frame), _LENGTH, dtype=torch.long)
    for row, text in enumerate(frame["text"]):
        words = [vocab.get(word, 1) for word in tokenize(text)][:_LENGTH]
        ids[row, : len(words)] = torch.tensor(words, dtype=torch.long)
    label = {name: i for i, name in enumerate(intents)}
    return TensorDataset(ids, torch.tensor([label[name] for name in frame["category"]]))


train_set, val_set, test_set = _dataset(train), _dataset(val), _dataset(test)
