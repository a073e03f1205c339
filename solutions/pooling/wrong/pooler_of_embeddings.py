"""The pooler is given `[CLS]` as it goes into the first layer, which is the same for every text:
all rows are alike. Take it from the last layer, where it has seen the others.

Loses: pooler, lines
"""

import torch
from torch.nn.functional import linear

import text
from encoder import load, tokenizer

torch.set_grad_enabled(False)
bert = load()
cut = {"padding": True, "truncation": True, "max_length": 64, "return_tensors": "pt"}


def mean_pool(hidden, mask):
    rows = zip(hidden, mask.bool(), strict=True)
    return torch.stack([states[real].mean(0) for states, real in rows])


def encode_queries(texts):
    batches = [tokenizer(list(texts[i : i + 50]), **cut) for i in range(0, len(texts), 50)]
    return torch.cat([mean_pool(bert(**b).last_hidden_state, b.attention_mask) for b in batches])


def unmasked_move(texts):
    ids, _, mask = tokenizer(texts, **cut).values()
    with_mask = bert(ids, attention_mask=mask)[0]
    without = bert(ids)[0]
    moved = (with_mask - without).abs() * mask[:, :, None]
    return float(moved.max())


def pooler(texts):
    dense = bert.pooler.dense
    first = bert.embeddings(tokenizer(texts, **cut)["input_ids"])
    return linear(first[:, 0], dense.weight, dense.bias).tanh()


queries = text.val["text"].head(12).tolist()
pairs = zip(queries, encode_queries(queries), strict=True)
same = [torch.allclose(encode_queries([q])[0], row, 0, 1e-5) for q, row in pairs]
print("alone as padded:", all(same))
print("moved without a mask:", round(unmasked_move(queries), 4))
own = bert(**tokenizer(queries, **cut)).pooler_output
print("pooler rebuilt:", bool((pooler(queries) - own).abs().max() < 1e-5))
