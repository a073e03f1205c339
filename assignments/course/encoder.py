"""The pretrained encoder, and the queries as its batches, as the lesson hands them out."""

import torch
from transformers import AutoModel, AutoTokenizer

import course_bundle

_LENGTH = 64

tokenizer = AutoTokenizer.from_pretrained(course_bundle.encoder)


def load():
    """A fresh pretrained encoder, in evaluation mode, each time it is called."""
    weights = course_bundle.encoder / "model.safetensors"
    if not weights.exists():
        raise FileNotFoundError(
            f"the encoder's weights are missing: put model.safetensors into {weights.parent}"
        )
    return AutoModel.from_pretrained(course_bundle.encoder, dtype=torch.float32).eval()


def labels(df):
    """The intents of the rows as numbers `[rows]`, in the sorted order of their names."""
    number = {name: i for i, name in enumerate(course_bundle.intents)}
    return torch.tensor([number[name] for name in df["category"]], dtype=torch.long)


def batches(df, size, generator=None):
    """Yield the rows in batches, in order, or shuffled by a generator.

    Args:
        df: a frame with `text` and `category`.
        size: rows a batch; the last one holds what is left.
        generator: a `torch.Generator` that shuffles the rows, None to keep their order.

    Yields:
        `(batch, y)`: the tokenizer's tensors `[rows, ids]`, padded to the longest row of the batch
        and cut at 64, and the labels `[rows]`.
    """
    y = labels(df)
    texts = list(df["text"])
    rows = len(df)
    order = torch.arange(rows) if generator is None else torch.randperm(rows, generator=generator)
    for chosen in order.split(size):
        batch = tokenizer(
            [texts[i] for i in chosen.tolist()],
            padding=True,
            truncation=True,
            max_length=_LENGTH,
            return_tensors="pt",
        )
        yield batch, y[chosen]


def pooled(model, batch):
    """The mean of the last hidden states over the real tokens `[rows, hidden]`."""
    hidden = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    return (hidden * mask).sum(1) / mask.sum(1)
