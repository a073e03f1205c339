"""Each query by itself, so nothing is ever padded; the heads trained in double precision."""

import sys
from collections import OrderedDict
from itertools import chain

import torch
from torch import nn

import encoder
from image_loop import loss_fn
from text import intents, test, train, val

bert = encoder.load()
depth = bert.config.num_hidden_layers
say = sys.stdout.write


class Head(nn.Module):
    """A linear layer in double precision, whatever it is given."""

    def __init__(self, width):
        super().__init__()
        torch.random.manual_seed(42)
        self.linear = nn.Linear(width, len(intents)).double()

    def forward(self, X):
        return self.linear(torch.as_tensor(X).double())


def of_query(text):
    """The views of one query, each `[hidden]`."""
    ids = encoder.tokenizer(text, truncation=True, max_length=64, return_tensors="pt")
    out = bert(**ids, output_hidden_states=True)
    for i, states in enumerate(out.hidden_states):
        yield f"mean {i}", states[0].mean(0)
    yield f"cls {depth}", out.last_hidden_state[0, 0]
    yield "pooler", out.pooler_output[0]


def views(df):
    table = OrderedDict()
    with torch.inference_mode():
        for name, view in chain.from_iterable(map(of_query, df.text)):
            table.setdefault(name, []).append(view)
        return {name: torch.stack(rows).clone() for name, rows in table.items()}


def fit(F, Y):
    head, shuffle = Head(F.shape[1]), torch.Generator()
    shuffle.manual_seed(42)
    F, adam = torch.as_tensor(F).detach().clone(), torch.optim.Adam(head.parameters(), 0.001)
    for order in [torch.randperm(len(Y), generator=shuffle) for epoch in range(30)]:
        for rows in (order[i : i + 32] for i in range(0, len(order), 32)):
            loss = loss_fn(head(F[rows]), Y[rows])
            adam.zero_grad(set_to_none=False)
            loss.backward()
            adam.step()
    return head


def score(head, X, y):
    logits = head(X) if isinstance(head, Head) else nn.functional.linear(X, head.weight, head.bias)
    hits = [int(row.argmax()) == int(label) for row, label in zip(logits, y, strict=True)]
    return sum(hits) / len(hits)


T, V = views(train), views(val)
Y, Z = encoder.labels(train), encoder.labels(val)
for name, view in T.items():
    say(f"view {name} of shape {tuple(view.shape)}\n")
say(f"gradients kept: {T['mean 0'].requires_grad}\n")

heads, scores, seen = {}, {}, {}
for number, name in enumerate(T, 1):
    heads[name] = fit(T[name], Y)
    seen[name], scores[name] = score(heads[name], T[name], Y), score(heads[name], V[name], Z)
    say(f"{number}. {name}: training {seen[name]:.3%}, validation {scores[name]:.3%}\n")

say("by validation:\n")
for name in sorted(scores, key=scores.get, reverse=True):
    say(f"  {name} {scores[name]:.3f}\n")
chosen = max(scores, key=scores.get)

same = torch.isclose(T[f"mean {depth}"], torch.load("bert_features.pt")["F"], rtol=0, atol=1e-5)
say(f"mean {depth} is the kept F: {bool(same.all())}\n")
say(f"chosen: {chosen} (validation {scores[chosen]:.4f}), which makes of the test queries\n")
say(f"{score(heads[chosen], views(test)[chosen], encoder.labels(test)):.4f}\n")
