"""Layers (Cleo)"""

import torch

from encoder import batches, labels, load
from image_loop import loss_fn
from text import intents, test, train, val

encoder = load()
n_layers = encoder.config.num_hidden_layers


@torch.no_grad()
def views(df):
    means, cls, pooler = [], [], []
    for batch, _ in batches(df, size=64):
        output = encoder(**batch, output_hidden_states=True)
        states = torch.stack(output.hidden_states)  # layers + 1, queries, tokens, hidden
        means.append(states.mean(dim=2))
        cls.append(states[-1, :, 0])
        pooler.append(output.pooler_output)
    means = torch.cat(means, dim=1)
    result = {f"mean {i}": means[i] for i in range(n_layers + 1)}
    result[f"cls {n_layers}"] = torch.cat(cls)
    result["pooler"] = torch.cat(pooler)
    return result


def fit(F, Y):
    torch.manual_seed(42)
    model = torch.nn.Linear(F.shape[1], len(intents))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(42)
    for epoch in range(30):
        permutation = torch.randperm(len(F), generator=generator)
        for rows in permutation.split(32):
            loss = loss_fn(model(F[rows]), Y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


def score(head, X, y):
    return (head(X).argmax(dim=1) == y).sum().item() / len(y)


T, V = views(train), views(val)
Y, Z = labels(train), labels(val)
print(list(T), T["mean 0"].shape)

heads = {name: fit(features, Y) for name, features in T.items()}
scores = {name: score(heads[name], features, Z) for name, features in V.items()}
for name in heads:
    print(name, round(score(heads[name], T[name], Y), 4), round(scores[name], 4))

saved = torch.load("bert_features.pt")
# says False, I do not know why?
print(torch.allclose(T[f"mean {n_layers}"], saved["F"], atol=1e-5))

chosen = max(scores, key=scores.get)
print(chosen, round(score(heads[chosen], views(test)[chosen], labels(test)), 4))
# Pretraining with masked words makes each layer a little worse for the intents.
