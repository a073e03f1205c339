"""The contract, the softmax and the head's training in numpy; torch for the encoder and seeds."""

import numpy as np
import torch
from torch import nn

import encoder
from text import intents, val, val_set

bert, tok = encoder.load(), encoder.tokenizer


def from_tokenizer(ids, mask):
    """An array's own True or False: what is expected of each row is laid beside it."""
    ids, mask = np.asarray(ids), np.asarray(mask)
    rows, columns = ids.shape
    lengths = mask.sum(axis=1, dtype=int)
    if rows and lengths.min() < 1:
        return np.False_
    in_table = np.isin(ids, np.arange(tok.vocab_size)).all()
    packed = np.array_equal(mask, np.arange(columns)[None, :] < lengths[:, None])
    ends = [(row[0], row[length - 1]) for row, length in zip(ids, lengths, strict=True)]
    wanted = [(tok.cls_token_id, tok.sep_token_id)] * rows
    return np.bool_(in_table and packed) & (ends == wanted)


def softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def trained(F, Y):
    """Adam by hand, from torch's own first weights and in its order of rows."""
    torch.manual_seed(42)
    layer = nn.Linear(F.shape[1], len(intents))
    w = np.c_[layer.weight.detach().numpy(), layer.bias.detach().numpy()].astype(np.float64)
    F = np.c_[F.astype(np.float64), np.ones(len(F))]
    mean, square, step = np.zeros_like(w), np.zeros_like(w), 0
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        order = torch.randperm(len(F), generator=generator).numpy()
        for start in range(0, len(F), 32):
            rows = order[start : start + 32]
            p = softmax(F[rows] @ w.T)
            p[np.arange(len(rows)), Y[rows]] -= 1
            gradient = p.T @ F[rows] / len(rows)
            step += 1
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            w -= 0.001 * mean / (1 - 0.9**step) / root
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(w[:, :-1]))
        layer.bias.copy_(torch.from_numpy(w[:, -1]))
    return layer


def confidence(head, ids, mask, y):
    weight, bias = (p.detach().double().numpy() for p in (head.weight, head.bias))
    tops, hits = [], []
    for start in range(0, len(ids), 50):
        some = slice(start, start + 50)
        with torch.inference_mode():
            hidden = bert(ids[some], mask[some])[0].double().numpy()
        real = mask[some].numpy()
        features = np.einsum("qih,qi->qh", hidden, real) / real.sum(1)[:, None]
        p = softmax(features @ weight.T + bias)
        tops.extend(p.max(axis=1))
        hits.extend(p.argmax(axis=1) == y[some].numpy())
    return np.array([np.mean(hits), np.mean(tops)])


kept = {name: value.numpy() for name, value in torch.load("bert_features.pt").items()}
head = trained(kept["F"], kept["Y"])
y = encoder.labels(val)
given = tok(val["text"].tolist(), padding=True, truncation=True, max_length=64)
right = [torch.tensor(given[name]) for name in ("input_ids", "attention_mask")]
wrong = [val_set.tensors[0], val_set.tensors[0].ne(0).long()]
results = {}
for name, (ids, mask) in {"right": right, "wrong": wrong}.items():
    results[name] = confidence(head, ids, mask, y)
    print(name, *results[name].round(4), from_tokenizer(ids, mask), sep="\t")
