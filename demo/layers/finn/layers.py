import torch
from torch import nn

from encoder import batches, labels, load
from image_loop import loss_fn
from text import intents, test, train, val

model = load()
last = model.config.num_hidden_layers


def views(df):
    """All the features of a dataframe."""
    names = [f"mean {i}" for i in range(last + 1)] + [f"cls {last}", "pooler"]
    lists = {name: [] for name in names}
    for batch, y in batches(df, 64):
        with torch.no_grad():
            out = model(**batch, output_hidden_states=True)
        mask = batch["attention_mask"].unsqueeze(2)
        for i in range(last + 1):
            lists[names[i]].append((out.hidden_states[i] * mask).sum(1) / mask.sum(1))
        lists[f"cls {last}"].append(out.last_hidden_state[:, 0])
        lists["pooler"].append(out.pooler_output)
    return {name: torch.cat(lists[name]) for name in names}


def fit(F, Y):
    """Train the head."""
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for epoch in range(30):
        order = torch.randperm(len(F), generator=generator)
        start = 0
        while start < len(F):
            rows = order[start : start + 32]
            optimizer.zero_grad()
            loss = loss_fn(head(F[rows]), Y[rows])
            loss.backward()
            optimizer.step()
    return head


def score(head, X, y):
    """Share of right answers."""
    return (head(X).argmax(1) == y).float().mean().item()


T, V = views(train), views(val)
Y, Z = labels(train), labels(val)
print(list(T), T["mean 0"].shape)

heads, scores = {}, {}
for name in T:
    heads[name] = fit(T[name], Y)
    scores[name] = score(heads[name], V[name], Z)
    print(name, score(heads[name], T[name], Y), scores[name])

print(torch.allclose(T[f"mean {last}"], torch.load("bert_features.pt")["F"], atol=1e-5))

chosen = max(scores, key=scores.get)
print(chosen, score(heads[chosen], views(test)[chosen], labels(test)))
