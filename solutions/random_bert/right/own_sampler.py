"""A `DataLoader` with a sampler of one's own, all queries padded to 64 ids, results in dicts."""

import functools
import math

import torch
from torch.utils.data import BatchSampler, DataLoader, TensorDataset
from transformers import BertConfig, BertModel

import text
from encoder import labels, load, tokenizer
from image_loop import loss_fn

pretrained = load().requires_grad_(False)


def untrained(seed=42):
    """An encoder that nobody has trained."""
    config = BertConfig(**pretrained.config.to_dict())
    torch.random.manual_seed(seed)
    return BertModel(config).requires_grad_(False).eval()


class Recipe(torch.utils.data.Sampler):
    """Rows in the recipe's order: one permutation each time it is gone through."""

    def __init__(self, n):
        self.n, self.generator = n, torch.Generator().manual_seed(42)

    def __iter__(self):
        return iter(torch.randperm(self.n, generator=self.generator).tolist())

    def __len__(self):
        return self.n


def features(model, df):
    encoded = tokenizer(
        df["text"].tolist(),
        padding="max_length",
        truncation=True,
        max_length=64,
        return_tensors="pt",
    )
    rows = TensorDataset(encoded["input_ids"], encoded["attention_mask"].bool())
    found = []
    for ids, real in DataLoader(rows, batch_size=24):
        hidden = model(input_ids=ids, attention_mask=real.long())[0]
        hidden[~real] = 0
        found.append(hidden.sum(dim=-2).div(real.sum(-1, keepdim=True)))
    return torch.vstack(found)


def fit(F, Y, G, Z):
    torch.manual_seed(42)
    head = torch.nn.Linear(F.size(-1), len(text.intents), bias=True)
    adam = torch.optim.Adam([{"params": [head.weight]}, {"params": [head.bias]}], lr=1e-3)
    loader = DataLoader(TensorDataset(F, Y), batch_sampler=BatchSampler(Recipe(len(F)), 32, False))
    for _ in range(30):
        torch.random.manual_seed(0)  # what the loader draws for itself is of no account
        for x, y in loader:
            adam.zero_grad()
            loss_fn(head(x), y).backward()
            adam.step()

    def right(X, y):
        return torch.sum(torch.eq(torch.max(head(X), 1).indices, y)).item()

    return f"{right(F, Y) / len(Y):.4f}", f"{right(G, Z) / len(Z):.4f}"


def cosine(X):
    lengths = functools.reduce(torch.hypot, X.double().unbind(1))
    return float(((X / lengths[:, None]).mean(0) ** 2).sum())


random = untrained()
weights = {
    name: model.embeddings.word_embeddings.weight
    for name, model in globals().copy().items()
    if name in ("pretrained", "random")
}
print(
    f"{random.__class__.__name__} | {sum(math.prod(p.size()) for p in random.parameters()):_} |",
    torch.allclose(*weights.values()),
)

Y, Z = labels(text.train), labels(text.val)
table = {}
for name in weights:
    F, G = (features(globals()[name], df) for df in (text.train, text.val))
    table[name] = dict(zip(("train", "val"), fit(F, Y, G, Z), strict=True), cosine=cosine(F))
for name, row in table.items():
    print(f"{name:>10}:", ", ".join(f"{key} {float(x):.4f}" for key, x in row.items()))
