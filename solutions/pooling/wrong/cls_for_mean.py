"""`encode_queries` gives the last state of `[CLS]`, the first token, and not the mean over the real
tokens. Hand the last states and the attention mask to `mean_pool`.

Loses: encode, lines
"""

import torch

from encoder import load, tokenizer
from text import val

model = load()
dense = model.pooler.dense


def tokenized(texts):
    """The tokenizer's tensors `[texts, ids]`, padded to the longest text and cut at 64."""
    return tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")


def mean_pool(hidden, mask):
    """The mean of states `[n, ids, hidden]` where the mask `[n, ids]` is 1."""
    weights = mask.unsqueeze(-1).to(hidden.dtype)  # [n, ids, 1]
    return (hidden * weights).sum(1) / weights.sum(1)


@torch.no_grad()
def encode_queries(texts):
    """The mean of each text's last states over its real tokens `[texts, hidden]`."""
    parts = []
    for start in range(0, len(texts), 32):
        batch = tokenized(texts[start : start + 32])
        parts.append(model(**batch).last_hidden_state[:, 0])
    return torch.cat(parts)


@torch.no_grad()
def unmasked_move(texts):
    """The largest change of a real token's last state when no mask is given."""
    batch = tokenized(texts)
    masked = model(**batch).last_hidden_state  # [texts, ids, hidden]
    unmasked = model(input_ids=batch["input_ids"]).last_hidden_state
    return (unmasked - masked)[batch["attention_mask"].bool()].abs().max().item()


@torch.no_grad()
def pooler(texts):
    """The last states of [CLS] through the pooler's own weights `[texts, hidden]`."""
    parts = []
    for start in range(0, len(texts), 32):
        cls = model(**tokenized(texts[start : start + 32])).last_hidden_state[:, 0]
        parts.append(torch.tanh(cls @ dense.weight.T + dense.bias))
    return torch.cat(parts)


queries = list(val["text"])[:12]

alone = torch.cat([encode_queries([query]) for query in queries])
print("alone as padded:", torch.allclose(alone, encode_queries(queries), rtol=0, atol=1e-5))
print(f"moved without a mask: {unmasked_move(queries):.4f}")
with torch.no_grad():
    own = model(**tokenized(queries)).pooler_output
print("pooler rebuilt:", torch.allclose(pooler(queries), own, rtol=0, atol=1e-5))
