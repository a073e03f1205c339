"""As it would be typed along with the lesson: short, with 256 and the file's name in it."""

import torch
from torch import nn

from encoder import batches, labels, load
from image_loop import loss_fn
from text import intents, test, train, val

bert = load()


@torch.no_grad()
def views(df):
    parts = []
    for batch, _ in batches(df, 64):
        out = bert(**batch, output_hidden_states=True)
        mask = batch["attention_mask"].unsqueeze(-1).float()
        means = [(h * mask).sum(1) / mask.sum(1) for h in out.hidden_states]
        parts.append(torch.stack([*means, out.last_hidden_state[:, 0], out.pooler_output]))
    names = [f"mean {i}" for i in range(5)] + ["cls 4", "pooler"]
    return dict(zip(names, torch.cat(parts, 1), strict=True))


def fit(F, Y):
    torch.manual_seed(42)
    head = nn.Linear(256, len(intents))
    opt = torch.optim.Adam(head.parameters(), lr=0.001)
    g = torch.Generator().manual_seed(42)
    for _ in range(30):
        for i in torch.randperm(len(F), generator=g).split(32):
            loss = loss_fn(head(F[i]), Y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return head


def score(head, X, y):
    return (head(X).argmax(-1) == y).float().mean().item()


T, V = views(train), views(val)
Y, Z = labels(train), labels(val)
print(*T, T["mean 0"].shape)

heads, scores = {}, {}
for name in T:
    heads[name] = fit(T[name], Y)
    scores[name] = score(heads[name], V[name], Z)
    print(f"{name} {score(heads[name], T[name], Y):.4f} {scores[name]:.4f}")

saved = torch.load("bert_features.pt")
print(torch.allclose(T["mean 4"], saved["F"], atol=1e-5))

chosen = max(scores, key=scores.get)
print(f"{chosen} {score(heads[chosen], views(test)[chosen], labels(test)):.4f}")
# masked-word pretraining shapes the last layer to guess words, the words alone know the intent
