"""As it would be typed along with the lesson: short, one batch for everything."""

import torch

from encoder import load, tokenizer
from text import val

bert = load()


def batch_of(texts):
    return tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")


def mean_pool(hidden, mask):
    mask = mask.unsqueeze(-1).float()
    return (hidden * mask).sum(1) / mask.sum(1)


@torch.no_grad()
def encode_queries(texts):
    batch = batch_of(texts)
    return mean_pool(bert(**batch).last_hidden_state, batch["attention_mask"])


@torch.no_grad()
def unmasked_move(texts):
    batch = batch_of(texts)
    with_mask = bert(**batch).last_hidden_state
    without = bert(input_ids=batch["input_ids"]).last_hidden_state
    real = batch["attention_mask"].bool()
    return (with_mask[real] - without[real]).abs().max().item()


@torch.no_grad()
def pooler(texts):
    cls = bert(**batch_of(texts)).last_hidden_state[:, 0]
    return torch.tanh(bert.pooler.dense(cls))


queries = list(val["text"])[:12]

together = encode_queries(queries)
alone = torch.cat([encode_queries([q]) for q in queries])
print(torch.allclose(alone, together, atol=1e-5))
print(round(unmasked_move(queries), 4))
with torch.no_grad():
    print(torch.allclose(pooler(queries), bert(**batch_of(queries)).pooler_output, atol=1e-5))
