"""`encode_queries` takes `[CLS]` and `[SEP]` out of the mask before it averages. Real tokens are
all that the attention mask marks, these two among them.

Loses: encode, lines
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
    rows = []
    for one in texts:
        batch = tokenizer([one], **cut)
        words = batch["attention_mask"].clone()
        words[:, [0, -1]] = 0  # a text alone ends with its [SEP]
        rows.append(mean_pool(bert(**batch).last_hidden_state, words)[0])
    return torch.stack(rows)


def unmasked_move(texts):
    ids, _, mask = tokenizer(texts, **cut).values()
    with_mask = bert(ids, attention_mask=mask)[0]
    without = bert(ids)[0]
    moved = (with_mask - without).abs() * mask[:, :, None]
    return float(moved.max())


def pooler(texts):
    dense = bert.pooler.dense
    last = bert(**tokenizer(texts, **cut)).last_hidden_state
    return linear(last[:, 0], dense.weight, dense.bias).tanh()


queries = text.val["text"].head(12).tolist()
pairs = zip(queries, encode_queries(queries), strict=True)
same = [torch.allclose(encode_queries([q])[0], row, 0, 1e-5) for q, row in pairs]
print("alone as padded:", all(same))
print("moved without a mask:", round(unmasked_move(queries), 4))
own = bert(**tokenizer(queries, **cut)).pooler_output
print("pooler rebuilt:", bool((pooler(queries) - own).abs().max() < 1e-5))
