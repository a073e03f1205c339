"""The head in numpy: gradient in closed form and Adam written out, in double precision."""

from types import SimpleNamespace

import numpy as np
import torch

from encoder import batches, load
from text import intents, train, val

model = load()
number = {name: i for i, name in enumerate(intents)}


def features(df):
    found = np.empty((len(df), model.config.hidden_size), dtype=np.float32)
    start = 0
    with torch.inference_mode():
        for batch, _ in batches(df, 25):
            states = model(**batch).last_hidden_state.numpy()
            mask = batch["attention_mask"].numpy().astype(np.float32)
            mean = np.einsum("qth,qt->qh", states, mask / mask.sum(1, keepdims=True))
            found[start : start + len(mean)] = mean
            start += len(mean)
    return found


def train_head(F, Y):
    F, Y = np.asarray(F, dtype=np.float64), np.asarray(Y)
    torch.manual_seed(42)
    first = torch.nn.Linear(F.shape[1], len(intents))
    weights = np.column_stack([first.weight.detach().numpy(), first.bias.detach().numpy()])
    weights = weights.astype(np.float64)
    F = np.column_stack([F, np.ones(len(F))])
    mean, square, step = np.zeros_like(weights), np.zeros_like(weights), 0
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        order = torch.randperm(len(F), generator=generator).numpy()
        for rows in np.split(order, range(32, len(order), 32)):
            step += 1
            logits = F[rows] @ weights.T
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(rows)), Y[rows]] -= 1
            gradient = p.T @ F[rows] / len(rows)
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            weights -= 0.001 * mean / (1 - 0.9**step) / root
    return SimpleNamespace(weight=weights[:, :-1], bias=weights[:, -1])


def logits(head, X):
    weight, bias = (
        x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in (head.weight, head.bias)
    )
    return np.asarray(X) @ weight.T + bias


def score(head, X, y):
    return np.mean(logits(head, X).argmax(1) == np.asarray(y))


def predict(query):
    frame = train.head(1).assign(text=query)
    return np.array(intents)[logits(head, features(frame))[0].argmax()]


F, Y = features(train), train["category"].map(number).to_numpy()
G, Z = features(val), val["category"].map(number).to_numpy()
head = train_head(F, Y)
print("accuracies:", [round(float(score(head, *pair)), 4) for pair in ((F, Y), (G, Z))])

unit = F / np.linalg.norm(F, axis=1, keepdims=True)
cosines = (unit @ unit.T).astype(np.float64)
i, j = np.triu_indices(len(F), 1)
same, different = (cosines[i, j][keep].mean() for keep in (Y[i] == Y[j], Y[i] != Y[j]))
print("cosines:", np.round([same, different], 4))
