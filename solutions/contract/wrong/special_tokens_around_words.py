"""You put [CLS] and [SEP] around the word ids before you score them, so your check lets them pass
and the wrong ids are others than asked for. Score them as `val_set` holds them.

Loses: results, lines
"""

import torch
from torch import nn

from encoder import labels, load, pooled, tokenizer
from image_loop import loss_fn
from text import intents, val, val_set

model = load()
kept = torch.load("bert_features.pt")


def from_tokenizer(ids, mask):
    """Whether every row of a batch, ids and mask `[rows, columns]`, keeps the contract."""
    real = mask.sum(1, keepdim=True)  # [rows, 1]
    if not (real > 0).all():
        return False
    together = mask == (torch.arange(mask.shape[1]) < real)  # [rows, columns]
    known = (ids >= 0) & (ids < len(tokenizer))  # [rows, columns]
    begins = ids[:, :1] == tokenizer.cls_token_id
    ends = ids.gather(1, real - 1) == tokenizer.sep_token_id
    return all(bool(kept.all()) for kept in (together, known, begins, ends))


F, Y = kept["F"], kept["Y"]
torch.manual_seed(42)
head = nn.Linear(F.shape[1], len(intents))
optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
generator = torch.Generator().manual_seed(42)
for _ in range(30):
    for rows in torch.randperm(len(F), generator=generator).split(32):
        optimizer.zero_grad()
        loss_fn(head(F[rows]), Y[rows]).backward()
        optimizer.step()


def confidence(head, ids, mask, y):
    """Accuracy and mean top probability of a head on a batch of queries with labels `[rows]`."""
    with torch.no_grad():
        features = [
            pooled(model, {"input_ids": some, "attention_mask": real})
            for some, real in zip(ids.split(64), mask.split(64), strict=True)
        ]
        top, chosen = head(torch.cat(features)).softmax(1).max(1)  # both [rows]
    return [(chosen == y).double().mean().item(), top.double().mean().item()]


right = tokenizer(
    list(val["text"]), padding=True, truncation=True, max_length=64, return_tensors="pt"
)
words = torch.nn.functional.pad(val_set.tensors[0], (1, 1))  # [queries, 50]
lengths = (words != 0).sum(1)
words[:, 0] = tokenizer.cls_token_id
words[torch.arange(len(words)), lengths + 1] = tokenizer.sep_token_id
batches = {
    "right": (right["input_ids"], right["attention_mask"]),
    "wrong": (words % len(tokenizer), (words != 0).long()),
}
results = {}
for name, batch in batches.items():
    results[name] = confidence(head, *batch, labels(val))
    print(name, "{:.4f} {:.3f}".format(*results[name]), from_tokenizer(*batch))
