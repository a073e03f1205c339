"""As it would be typed along with the lesson: short, with 256 in it."""

import pandas as pd
import torch
from torch import nn

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

model = load()
model.eval()


@torch.no_grad()
def features(df):
    return torch.cat([pooled(model, batch) for batch, _ in batches(df, 64)])


def train_head(F, Y):
    torch.manual_seed(42)
    head = nn.Linear(256, len(intents))
    opt = torch.optim.Adam(head.parameters(), lr=0.001)
    g = torch.Generator().manual_seed(42)
    for epoch in range(30):  # noqa: B007
        for i in torch.randperm(len(F), generator=g).split(32):
            loss = loss_fn(head(F[i]), Y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return head


def score(head, X, y):
    return (head(X).argmax(-1) == y).float().mean().item()


F, Y = features(train), labels(train)
G, Z = features(val), labels(val)
head = train_head(F, Y)
print(f"train {score(head, F, Y):.4f} validation {score(head, G, Z):.4f}")


@torch.no_grad()
def predict(query):
    df = pd.DataFrame({"text": [query], "category": [intents[0]]})
    return intents[head(features(df)).argmax(1)]


N = nn.functional.normalize(F, dim=1)
cos = N @ N.T
one = Y[:, None] == Y[None, :]
different = cos[~one].mean()
one.fill_diagonal_(False)
same = cos[one].mean()
print(f"same {same:.3f} different {different:.3f}")
