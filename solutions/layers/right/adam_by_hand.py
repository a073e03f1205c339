"""The head trained without autograd: the gradient in closed form, Adam written out."""

import torch
from torch.nn.functional import one_hot

from encoder import batches, labels, load
from text import intents, test, train, val

model = load()


def views(df):
    views_of = None
    for batch, _ in batches(df, 32):
        with torch.no_grad():
            out = model(**batch, output_hidden_states=True)
        L = len(out.hidden_states) - 1
        new = {
            f"mean {i}": mean(h, batch["attention_mask"]) for i, h in enumerate(out.hidden_states)
        }
        new |= {f"cls {L}": out.last_hidden_state[:, 0], "pooler": out.pooler_output}
        views_of = {k: torch.vstack([views_of[k], new[k]]) for k in new} if views_of else new
    return views_of


def mean(hidden, mask):
    """The mean of each query's real tokens, one query at a time."""
    return torch.stack(
        [states[real.bool()].mean(0) for states, real in zip(hidden, mask, strict=True)]
    )


@torch.no_grad()
def fit(F, Y):
    torch.manual_seed(42)
    head = torch.nn.Linear(F.shape[1], len(intents))
    state = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in (head.weight, head.bias)]
    generator, step = torch.Generator().manual_seed(42), 0
    for _ in range(30):
        for rows in torch.randperm(len(F), generator=generator).split(32):
            step += 1
            error = (head(F[rows]).softmax(1) - one_hot(Y[rows], len(intents))) / len(rows)
            for (p, m, v), gradient in zip(state, (error.T @ F[rows], error.sum(0)), strict=True):
                m.lerp_(gradient, 0.1)
                v.mul_(0.999).add_(0.001 * gradient**2)
                p -= 0.001 * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
    return head


def score(head, X, y):
    return ((X @ head.weight.T + head.bias).argmax(1) == y).double().mean()


T, V = views(train), views(val)
Y, Z = labels(train), labels(val)
print(list(T))
print(T["mean 0"].shape)
heads = {name: fit(X, Y) for name, X in T.items()}
scores = {name: score(head, V[name], Z) for name, head in heads.items()}
for name, head in heads.items():
    print(f"{name}\t{score(head, T[name], Y):.6f}\t{scores[name]:.6f}")
deepest = [name for name in T if name.startswith("mean")][-1]
print(
    deepest, "equals F:", torch.allclose(T[deepest], torch.load("bert_features.pt")["F"], 0, 1e-5)
)
chosen = sorted(scores, key=lambda name: scores[name])[-1]
print("test:", chosen, score(heads[chosen], views(test)[chosen], labels(test)).item())
