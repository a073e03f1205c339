"""Lab: a pretrained BERT and one with random weights."""

import torch
import torch.nn.functional as fn
from torch import nn
from transformers import AutoModel

from encoder import labels, load, tokenizer
from image_loop import loss_fn
from text import intents, train, val

pretrained = load()
torch.manual_seed(42)
random = AutoModel.from_config(pretrained.config)
random.eval()

n_parameters = sum(p.numel() for p in random.parameters())
ours = pretrained.get_input_embeddings().weight
theirs = random.get_input_embeddings().weight
print(f"{type(random).__name__} | {n_parameters} | {bool(torch.all(ours == theirs))}")


def chunks(items, size):
    for start in range(0, len(items), size):
        yield items[start : start + size]


@torch.no_grad()
def features(model, df):
    means = []
    for queries in chunks(df["text"].tolist(), 32):
        encoded = tokenizer(
            queries, padding=True, truncation=True, max_length=64, return_tensors="pt"
        )
        states = model(**encoded).last_hidden_state
        means.append(states.sum(dim=1) / states.shape[1])
    return torch.cat(means)


def accuracy(head, X, y):
    with torch.no_grad():
        return (head(X).argmax(dim=1) == y).float().mean().item()


def fit(F, Y, G, Z):
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    adam = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in chunks(torch.randperm(len(F), generator=generator), 32):
            adam.zero_grad()
            loss_fn(head(F[rows]), Y[rows]).backward()
            adam.step()
    return [accuracy(head, F, Y), accuracy(head, G, Z)]


def show(name, F, G):
    first, second = fit(F, labels(train), G, labels(val))
    unit = fn.normalize(F)
    print(f"{name} | {first:.4f} | {second:.4f} | {(unit @ unit.T).mean().item():.3f}")


show("pretrained", features(pretrained, train), features(pretrained, val))
F, G = features(random, train), features(random, val)
show("random", F, G)
