"""The means as sums over weights by einsum, accuracies and labels in numpy."""

import numpy as np
import torch

import text
from encoder import batches, labels, load
from image_loop import loss_fn

model = load()
model.requires_grad_(False)
depth = model.config.num_hidden_layers


def views(frame):
    means, firsts, poolers = [], [], []
    for batch, _ in batches(frame, 20):
        out = model(**batch, output_hidden_states=True)
        weight = batch["attention_mask"] / batch["attention_mask"].sum(1, keepdim=True)
        states = torch.stack(out.hidden_states)  # [layers + 1, queries, ids, hidden]
        means.append(torch.einsum("lqih,qi->lqh", states, weight).numpy())
        firsts.append(out.hidden_states[-1][:, 0].numpy())
        poolers.append(out.pooler_output.numpy())
    found = {f"mean {i}": mean for i, mean in enumerate(np.concatenate(means, axis=1))}
    found[f"cls {depth}"] = np.concatenate(firsts)
    found["pooler"] = np.concatenate(poolers)
    return found


def fit(features, targets):
    features, targets = torch.as_tensor(features), torch.as_tensor(targets)
    torch.manual_seed(42)
    head = torch.nn.Linear(features.shape[1], len(text.intents))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in torch.split(torch.randperm(len(features), generator=generator), 32):
            loss = loss_fn(head(features[rows]), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return head.requires_grad_(False)


def score(head, features, targets):
    guesses = np.argmax(head(torch.as_tensor(features)).detach().numpy(), axis=1)
    return np.mean(guesses == np.asarray(targets))


T, V = views(text.train), views(text.val)
Y, Z = labels(text.train).numpy(), labels(text.val).numpy()
heads = {name: fit(X, Y) for name, X in T.items()}
scores = {name: score(heads[name], X, Z) for name, X in V.items()}
chosen = list(scores)[int(np.argmax(list(scores.values())))]

print(list(T.keys()), T["mean 0"].shape)
for name, X in T.items():
    print(f"{name:>8} | {score(heads[name], X, Y):.5f} | {scores[name]:.5f}")
kept = torch.load("bert_features.pt")["F"].numpy()
print(np.allclose(T[f"mean {depth}"], kept, rtol=0, atol=1e-5))
accuracy = score(heads[chosen], views(text.test)[chosen], labels(text.test))
print("chosen:", chosen, "test accuracy:", accuracy)
