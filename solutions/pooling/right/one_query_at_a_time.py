"""One text after another, so that nothing is padded; no mean but a running sum; plain loops."""

import math

import torch

from encoder import load, tokenizer
from text import val

model = load()
for parameter in model.parameters():
    parameter.requires_grad = False


def mean_pool(hidden, mask):
    rows = []
    for i in range(hidden.shape[0]):
        total, count = torch.zeros(hidden.shape[2]), 0
        for j in range(hidden.shape[1]):
            if mask[i, j]:
                total += hidden[i, j]
                count += 1
        rows.append(total / count)
    return torch.stack(rows)


def states(text):
    return model(tokenizer.encode(text, truncation=True, max_length=64, return_tensors="pt"))[0]


def encode_queries(texts):
    return torch.stack([states(text)[0].mean(dim=0) for text in texts])


def unmasked_move(texts):
    ids = [tokenizer.encode(text, truncation=True, max_length=64) for text in texts]
    longest = max(map(len, ids))
    most = 0.0
    for text, own in zip(texts, ids, strict=True):
        filled = own + [tokenizer.pad_token_id] * (longest - len(own))
        bare = model(torch.tensor([filled])).last_hidden_state[0]
        for before, after in zip(states(text)[0], bare[: len(own)], strict=True):
            most = max(most, float(torch.max(torch.abs(before - after))))
    return most


def pooler(texts):
    weight, bias = model.pooler.dense.weight, model.pooler.dense.bias
    rows = []
    for text in texts:
        x = torch.mv(weight, states(text)[0, 0]) + bias
        rows.append([math.tanh(entry) for entry in x.tolist()])
    return torch.tensor(rows)


queries = val["text"].head(12).tolist()
together = encode_queries(queries)
agree = all(
    (encode_queries([query])[0] - together[i]).abs().max() < 1e-5 for i, query in enumerate(queries)
)
print("A query alone equals its row:", agree)
print("Without attention mask, real tokens move by up to", unmasked_move(queries))
own = torch.cat([model(**tokenizer(query, return_tensors="pt")).pooler_output for query in queries])
print("The rebuilt pooler equals the encoder's:", torch.dist(pooler(queries), own).item() < 1e-5)
