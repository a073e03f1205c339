"""You call the tokenizer yourself, and it cuts a query where the model ends, at 512 ids, not at 64
as `batches` does. Short queries do not show it; long ones get other features. Take `batches`, or
give `max_length=64` along with `truncation=True`.

Loses: features, cached, predict, cosines, lines
"""

import pandas as pd
import torch
from torch import nn

from encoder import labels, load, pooled, tokenizer
from image_loop import loss_fn
from text import intents, train, val

model = load()


def features(df):
    """The masked mean of each query's last hidden states `[queries, hidden]`, in df's order."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(df), 32):
            texts = df["text"].tolist()[start : start + 32]
            batch = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
            parts.append(pooled(model, batch))
    return torch.cat(parts)


def train_head(F, Y):
    """A head trained on features `[queries, hidden]` and labels `[queries]`."""
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in torch.randperm(len(F), generator=generator).split(32):
            optimizer.zero_grad()
            loss_fn(head(F[rows]), Y[rows]).backward()
            optimizer.step()
    return head


def score(head, X, y):
    """The fraction of queries that the head gives their own intent, 0 to 1."""
    with torch.no_grad():
        return (head(X).argmax(1) == y).double().mean().item()


F, Y = features(train), labels(train)
G, Z = features(val), labels(val)
head = train_head(F, Y)
print(f"{score(head, F, Y):.4f} {score(head, G, Z):.4f}")


def predict(query):
    """The name of the intent that the head gives one query."""
    row = pd.DataFrame({"text": [query], "category": intents[:1]})
    with torch.no_grad():
        return intents[head(features(row)).argmax().item()]


unit = nn.functional.normalize(F)
cosines = unit @ unit.T  # [queries, queries]
agree = Y.unsqueeze(1) == Y
same = cosines[agree & ~torch.eye(len(Y), dtype=torch.bool)].mean().item()
different = cosines[~agree].mean().item()
print(f"{same:.3f} {different:.3f}")
