import torch
import torch.nn as nn
from encoder import load, batches, labels
from image_loop import loss_fn
from text import train, val, test, intents

model = load()
L = model.config.num_hidden_layers


def views(df):
    parts = {}
    with torch.no_grad():
        for batch, y in batches(df, 32):
            out = model(**batch, output_hidden_states=True)
            mask = batch["attention_mask"].unsqueeze(-1)
            feats = {
                f"mean {l}": (h * mask).sum(1) / mask.sum(1)
                for l, h in enumerate(out.hidden_states)
            }
            feats[f"cls {L}"] = out.last_hidden_state[:, 0, :]
            feats["pooler"] = out.pooler_output
            for name, x in feats.items():
                parts.setdefault(name, []).append(x)
    return {name: torch.cat(xs) for name, xs in parts.items()}


def fit(F, Y):
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    opt = torch.optim.Adam(head.parameters(), lr=0.001)
    gen = torch.Generator().manual_seed(42)
    for epoch in range(30):
        perm = torch.randperm(len(F), generator=gen)
        for i in range(0, len(F), 32):
            b = perm[i : i + 32]
            opt.zero_grad()
            loss = loss_fn(head(F[b]), Y[b])
            loss.backward()
            opt.step()
    return head


def score(head, X, y):
    with torch.no_grad():
        return (head(X).argmax(1) == y).float().mean().item()


T = views(train)
V = views(val)
Y = labels(train)
Z = labels(val)
print(list(T.keys()), T["mean 0"].shape)

# the kept features should be the same as the last mean
kept = torch.load("bert_features.pt")
print(torch.allclose(T[f"mean {L}"], kept["G"], atol=1e-5))

heads = {}
scores = {}
for name in T:
    heads[name] = fit(T[name], Y)
    scores[name] = score(heads[name], V[name], Z)
    print(name, score(heads[name], T[name], Y), scores[name])

chosen = max(scores, key=scores.get)
print(chosen, score(heads[chosen], views(test)[chosen], labels(test)))
