"""Typed from the lesson: 256 in the head, accuracies as text, pretrained features from the file."""

import torch
from torch import nn
from transformers import AutoModel

from encoder import batches, load, pooled
from image_loop import loss_fn
from text import intents, train, val

pretrained = load()
torch.manual_seed(42)
random = AutoModel.from_config(pretrained.config).eval()
print(
    type(random).__name__,
    sum(p.numel() for p in random.parameters()),
    torch.equal(
        pretrained.embeddings.word_embeddings.weight, random.embeddings.word_embeddings.weight
    ),
)


def features(model, df):
    with torch.no_grad():
        return torch.cat([pooled(model, batch) for batch, _ in batches(df, 64)])


def fit(F, Y, G, Z):
    torch.manual_seed(42)
    head = nn.Linear(256, len(intents))
    opt = torch.optim.Adam(head.parameters(), lr=0.001)
    g = torch.Generator().manual_seed(42)
    for _ in range(30):
        for i in torch.randperm(len(F), generator=g).split(32):
            opt.zero_grad()
            loss_fn(head(F[i]), Y[i]).backward()
            opt.step()
    with torch.no_grad():
        return [f"{(head(X).argmax(1) == y).float().mean():.4f}" for X, y in ((F, Y), (G, Z))]


def cosine(F):
    N = F / F.norm(dim=1, keepdim=True)
    return f"{(N @ N.T).mean():.3f}"


P, Y, Q, Z = torch.load("bert_features.pt").values()
print("pretrained", *fit(P, Y, Q, Z), cosine(P))
F, G = features(random, train), features(random, val)
print("random", *fit(F, Y, G, Z), cosine(F))
