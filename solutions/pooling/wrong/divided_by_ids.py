"""The sum over the real tokens is divided by the number of all ids, padding included: the more
padding a row has, the smaller its vector. Divide by the mask's sum along the ids.

Loses: mean, encode, lines
"""

import torch
from torch import nn

from encoder import load, tokenizer
from text import val


class Encoder:
    """The encoder with its tokenizer: texts in, last states and mask out."""

    def __init__(self):
        self.bert = load()

    def __call__(self, texts, use_mask=True):
        batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
        mask = batch.pop("attention_mask")  # [texts, ids]
        with torch.inference_mode():
            out = self.bert(**batch, attention_mask=mask if use_mask else None)
        return out.last_hidden_state, mask


encoder = Encoder()


def mean_pool(hidden, mask):
    padding = ~mask.bool()
    total = hidden.masked_fill(padding[..., None], 0).sum(dim=1)  # [n, hidden]
    return total / hidden.shape[1]


def encode_queries(texts):
    rows = []
    for i in range(0, len(texts), 16):
        rows.extend(mean_pool(*encoder(texts[i : i + 16])))
    return torch.stack(rows)


def unmasked_move(texts):
    states, mask = encoder(texts)
    bare, _ = encoder(texts, use_mask=False)
    return (states - bare)[mask == 1].abs().max()


def pooler(texts):
    summary = nn.Sequential(encoder.bert.pooler.dense, nn.Tanh())
    with torch.no_grad():
        return torch.cat([summary(encoder([one])[0][:, 0]) for one in texts])


if __name__ == "__main__":
    queries = val["text"].tolist()[:12]
    alone = torch.cat([encode_queries([query]) for query in queries])
    apart = (alone - encode_queries(queries)).abs().max().item()
    print(f"alone as padded: {apart <= 1e-5}")
    print(f"moved without a mask: {unmasked_move(queries):.4f}")
    batch = tokenizer(queries, padding=True, return_tensors="pt")
    apart = (pooler(queries) - encoder.bert(**batch).pooler_output).abs().max().item()
    print(f"pooler rebuilt: {apart <= 1e-5}")
