"""Your encoder is in training mode, so dropout throws away a tenth of its states at random: the
same query gives other features each time you ask. Leave the encoder as `load` gives it, and ask for
the same query twice to see that nothing moves.

Loses: frozen, features, cached, predict, cosines, lines
"""

import pandas as pd
import torch
from torch import nn

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

model = load().train()


def features(df):
    """The masked mean of each query's last hidden states `[queries, hidden]`, in df's order."""
    # Queries of like length share a batch: much less padding to compute, and the same features.
    order = torch.tensor(df["text"].str.len().to_numpy()).argsort()
    with torch.no_grad():
        parts = [pooled(model, batch) for batch, _ in batches(df.iloc[order.numpy()], 32)]
    return torch.cat(parts)[order.argsort()]


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
