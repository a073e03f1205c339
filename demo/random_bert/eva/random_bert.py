import torch
from torch import nn
from transformers import AutoModel

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

pretrained = load()
torch.manual_seed(42)
random = AutoModel.from_config(pretrained.config).eval()

print(
    type(random).__name__,
    sum(p.numel() for p in random.parameters()),
    torch.equal(
        pretrained.embeddings.word_embeddings.weight,
        random.embeddings.word_embeddings.weight,
    ),
)


def features(model, df):
    found = []
    with torch.no_grad():
        for batch, _ in batches(df, 64):
            found.append(pooled(model, batch))
    return torch.stack(found)


def fit(F, Y, G, Z):
    torch.manual_seed(42)
    head = nn.Linear(256, len(intents))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    g = torch.Generator().manual_seed(42)
    for _ in range(30):
        for i in torch.randperm(len(F), generator=g).split(32):
            optimizer.zero_grad()
            loss_fn(head(F[i]), Y[i]).backward()
            optimizer.step()
    accuracies = []
    for X, y in ((F, Y), (G, Z)):
        accuracies.append((head(X).argmax(1) == y).float().mean().item())
    return accuracies


F = features(random, train)
G = features(random, val)
print("random", fit(F, labels(train), G, labels(val)))
