"""The last layer caught by a hook; the cosines from sums of unit vectors, no pair formed."""

import torch
from torch import nn, optim

from encoder import batches, labels, load
from text import intents, train, val

model, caught = load(), {}
model.encoder.layer[-1].register_forward_hook(
    lambda layer, given, out: caught.update(last=out[0] if isinstance(out, tuple) else out)
)


def features(df):
    total, size = [], 30
    with torch.no_grad():
        for batch, y in batches(df, size):
            model(**batch)
            query, position = batch["attention_mask"].nonzero(as_tuple=True)
            sums = torch.zeros(len(y), caught["last"].shape[-1])
            sums.index_add_(0, query, caught["last"][query, position])
            total.append(sums / query.bincount(minlength=len(y))[:, None])
    return torch.vstack(total)


def train_head(F, Y):
    """The head's two tensors as leaves of their own, put into a layer at the end."""
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    weight, bias = (p.detach().clone().requires_grad_() for p in head.parameters())
    optimizer = optim.Adam([weight, bias], lr=0.001)
    shuffler = torch.Generator().manual_seed(42)
    for order in [torch.randperm(len(F), generator=shuffler) for _ in range(30)]:
        for rows in torch.split(order, 32):
            logits = F[rows] @ weight.T + bias
            loss = (logits.logsumexp(1) - logits.gather(1, Y[rows, None]).squeeze(1)).mean()
            weight.grad = bias.grad = None
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        head.weight.copy_(weight)
        head.bias.copy_(bias)
    return head.requires_grad_(False)


def score(head, X, y):
    guesses = torch.einsum("nh,ch->nc", X, head.weight).add(head.bias).argmax(1)
    return sum(map(int.__eq__, guesses.tolist(), y.tolist())) / len(y)


def predict(query):
    one = train.iloc[[0]].copy()
    one["text"] = query
    ranked = head(features(one)).squeeze().argsort(descending=True)
    return str(intents[ranked[0]])


F, Y, G, Z = (make(df) for df in (train, val) for make in (features, labels))
head = train_head(F, Y)

unit = nn.functional.normalize(F.double())
sums = torch.zeros(len(intents), F.shape[1], dtype=torch.double).index_add_(0, Y, unit)
counts = Y.bincount(minlength=len(intents)).double()
within = (sums**2).sum() - len(F)  # ordered pairs of one intent, without a row's own
between = (sums.sum(0) ** 2).sum() - (sums**2).sum()
same = within / (counts**2 - counts).sum()
different = between / (len(F) ** 2 - (counts**2).sum())

print(f"{'train':<12}{score(head, F, Y):.6f}\n{'validation':<12}{score(head, G, Z):.6f}")
print(f"{'same':<12}{same.item():.6f}\n{'different':<12}{different.item():.6f}")
