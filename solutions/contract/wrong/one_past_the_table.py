"""You let `len(tokenizer)` itself pass as an id, but ids begin at 0, so the last of the table is
one less. Compare with `<`, not `<=`.

Loses: contract
"""

import torch
from torch.nn.functional import cross_entropy, softmax

import encoder
import text

bert = encoder.load()
size = len(encoder.tokenizer)
begin, end = encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id


def keeps(row, real):
    """Whether one row, its ids and its mask as lists, keeps the contract."""
    n = sum(real)
    if n == 0 or real != [1] * n + [0] * (len(real) - n):
        return False
    if any(not 0 <= number <= size for number in row):
        return False
    return row[0] == begin and row[n - 1] == end


def from_tokenizer(ids, mask):
    return all(keeps(row, real) for row, real in zip(ids.tolist(), mask.tolist(), strict=True))


def train(F, Y):
    torch.manual_seed(42)
    head = torch.nn.Linear(F.shape[1], len(text.intents))
    adam = torch.optim.Adam(head.parameters(), lr=1e-3)
    shuffle = torch.Generator().manual_seed(42)
    for _ in range(30):
        order = torch.randperm(len(F), generator=shuffle)
        for start in range(0, len(F), 32):
            rows = order[start : start + 32]
            adam.zero_grad()
            cross_entropy(head(F[rows]), Y[rows]).backward()
            adam.step()
    return head


@torch.no_grad()
def confidence(head, ids, mask, y):
    hits, total = 0, 0.0
    for start in range(0, len(ids), 32):
        some, real = ids[start : start + 32], mask[start : start + 32]
        hidden = bert(input_ids=some, attention_mask=real).last_hidden_state
        weights = real.unsqueeze(-1).float()
        features = (hidden * weights).sum(1) / weights.sum(1)
        p = softmax(head(features), dim=1)
        hits += int((p.argmax(1) == y[start : start + 32]).sum())
        total += float(p.amax(1).sum())
    return hits / len(ids), total / len(ids)


kept = torch.load("bert_features.pt")
head = train(kept["F"], kept["Y"])
y = encoder.labels(text.val)

right = encoder.tokenizer(
    text.val["text"].tolist(), padding=True, truncation=True, max_length=64, return_tensors="pt"
)
words, _ = text.val_set.tensors
wrong = {"input_ids": words, "attention_mask": (words > 0).long()}
results = {}
for name, batch in (("right", right), ("wrong", wrong)):
    ids, mask = batch["input_ids"], batch["attention_mask"]
    results[name] = confidence(head, ids, mask, y)
    accuracy, top = results[name]
    print(f"{name}: {accuracy:.4f} {top:.3f} {from_tokenizer(ids, mask)}")
