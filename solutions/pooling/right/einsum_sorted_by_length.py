"""Texts sorted by length, encoded in buckets and put back; the mean as an einsum with weights."""

import torch

from encoder import load, tokenizer
from text import val

model = load().requires_grad_(False)
SIZE = 24


def mean_pool(hidden, mask):
    share = mask / mask.sum(-1, keepdim=True)
    return torch.einsum("nid,ni->nd", hidden, share.to(hidden.dtype))


def _in_order_of_length(texts, function):
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
    found = [None] * len(texts)
    for start in range(0, len(order), SIZE):
        some = order[start : start + SIZE]
        batch = tokenizer(
            [texts[i] for i in some],
            padding=True,
            truncation="longest_first",
            max_length=64,
            return_tensors="pt",
            pad_to_multiple_of=8,
        )
        rows = function(model(**batch)[0], batch["attention_mask"])
        for i, row in zip(some, rows, strict=True):
            found[i] = row
    return torch.stack(found)


def encode_queries(texts):
    return _in_order_of_length(texts, mean_pool)


def pooler(texts):
    weight, bias = (p.data for p in model.pooler.dense.parameters())
    return _in_order_of_length(
        texts, lambda last, _: torch.einsum("nd,od->no", last[:, 0], weight).add(bias).tanh()
    )


def unmasked_move(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    ids, mask = batch["input_ids"], batch["attention_mask"]
    difference = model(ids, mask)[0].sub(model(ids)[0]).abs()
    return difference.masked_fill(mask[..., None] == 0, -1).max()


queries = val["text"].iloc[:12].tolist()
whole = encode_queries(queries)
gap = max((encode_queries([q])[0] - row).abs().max() for q, row in zip(queries, whole, strict=True))
print(f"{gap <= 1e-5} (largest difference {gap:.1e}), {unmasked_move(queries):.5f}")
kept = model(**tokenizer(queries, padding=True, return_tensors="pt"))["pooler_output"]
print(f"pooler: {torch.isclose(pooler(queries), kept, rtol=0.0, atol=1e-5).all()}")
