"""All arithmetic in numpy; arrays in double precision come back, and numpy's own truth values."""

import numpy as np
import torch

import text
from encoder import load, tokenizer

encoder = load().requires_grad_(False)
W = encoder.pooler.dense.weight.numpy().astype(np.float64)
b = encoder.pooler.dense.bias.numpy().astype(np.float64)


def run(texts, masked=True):
    """Last states and mask of a padded batch, as arrays."""
    batch = tokenizer(texts, padding="longest", truncation=True, max_length=64, return_tensors="pt")
    mask = batch["attention_mask"]
    if not masked:
        del batch["attention_mask"]
    return encoder(**batch).last_hidden_state.numpy(), mask.numpy()


def mean_pool(hidden, mask):
    hidden, weights = np.asarray(hidden, np.float64), np.asarray(mask, np.float64)
    return np.stack(
        [np.average(h, axis=0, weights=w) for h, w in zip(hidden, weights, strict=True)]
    )


def encode_queries(texts):
    return np.concatenate([mean_pool(*run(texts[i : i + 7])) for i in range(0, len(texts), 7)])


def unmasked_move(texts):
    states, mask = run(texts)
    bare, _ = run(texts, masked=False)
    return np.abs(states - bare).max(axis=2)[mask == 1].max()


def pooler(texts):
    return np.vstack([np.tanh(run([one])[0][:, 0] @ W.T + b) for one in texts])


queries = text.val.text.to_numpy()[:12].tolist()
alone = np.vstack([encode_queries([query]) for query in queries])
print("alone == padded?", np.allclose(alone, encode_queries(queries), rtol=0, atol=1e-5))
print("moved:", repr(unmasked_move(queries)))
with torch.no_grad():
    theirs = encoder(**tokenizer(queries, padding=True, return_tensors="pt")).pooler_output.numpy()
print("pooler == rebuilt?", np.allclose(pooler(queries), theirs, rtol=0, atol=1e-5))
