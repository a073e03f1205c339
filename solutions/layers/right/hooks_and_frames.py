"""The states caught by hooks on the layers as they pass, and the table kept in a pandas frame."""

import functools

import pandas as pd
import torch

from encoder import batches, labels, load
from image_loop import loss_fn
from text import intents, test, train, val

model = load().requires_grad_(False)
L = len(model.encoder.layer)
caught = []
for module in (model.embeddings, *model.encoder.layer):
    module.register_forward_hook(
        lambda _, __, out: caught.append(out[0] if isinstance(out, tuple) else out)
    )


def views(df):
    """A row of the table for each query: a tensor of all views, taken apart by name last."""
    rows = []
    for batch, y in batches(df, 100):
        caught.clear()
        pooled = model(**batch).pooler_output
        keep = batch["attention_mask"].bool()
        for q in range(len(y)):
            means = [states[q, keep[q]].mean(0) for states in caught]
            rows.append(torch.stack([*means, caught[-1][q, 0], pooled[q]]))  # [views, hidden]
    names = [f"mean {i}" for i in range(L + 1)] + [f"cls {L}", "pooler"]
    return dict(zip(names, torch.stack(rows).unbind(1), strict=True))


def fit(F, Y):
    torch.manual_seed(42)
    head = torch.nn.Linear(F.shape[1], len(intents))
    step = torch.optim.Adam(head.parameters(), lr=0.001)
    draw = functools.partial(torch.randperm, len(F), generator=torch.Generator().manual_seed(42))
    for _ in range(30):
        order = draw()
        for i in range(0, len(order), 32):
            step.zero_grad()
            loss_fn(head(F[order[i : i + 32]]), Y[order[i : i + 32]]).backward()
            step.step()
    return head


def score(head, X, y):
    wrong = torch.count_nonzero(head(X).argmax(1) - y)
    return 1 - int(wrong) / len(y)


T, V = map(views, (train, val))
Y, Z = map(labels, (train, val))
heads = {name: fit(view, Y) for name, view in T.items()}
table = pd.DataFrame(
    {name: (score(head, T[name], Y), score(head, V[name], Z)) for name, head in heads.items()},
    index=["train", "val"],
).T
scores = table["val"].to_dict()
chosen = table["val"].idxmax()

print(", ".join(table.index), T["mean 0"].shape)
for name, accuracies in table.iterrows():
    print(name, *accuracies.map("{:.5f}".format), sep="\t")
cached = torch.load("bert_features.pt", weights_only=True)["F"]
print(f"mean {L} equals the cached features:", torch.allclose(T[f"mean {L}"], cached, atol=1e-5))
print("chosen:", chosen)
print("its test accuracy:", round(score(heads[chosen], views(test)[chosen], labels(test)), 4))
