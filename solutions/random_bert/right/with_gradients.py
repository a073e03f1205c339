"""Right but slow: gradients are kept while the queries are encoded, and dropped only at the end."""

import torch
from torch import nn, optim
from transformers import BertModel

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

pretrained = load()
config = pretrained.config
torch.manual_seed(42)
random = BertModel(config)
random.eval()

same = (
    pretrained.embeddings.word_embeddings.weight == random.embeddings.word_embeddings.weight
).all()
print(f"class {random.__class__.__name__}, {random.num_parameters():,} parameters, equal: {same}")


def features(encoder, frame):
    outputs = []
    for batch, _ in batches(frame, 50):
        outputs.append(pooled(encoder, batch))
    return torch.cat(outputs)


def fit(train_x, train_y, val_x, val_y):
    train_x, val_x = train_x.detach(), val_x.detach()
    torch.manual_seed(42)
    model = nn.Linear(train_x.size(1), len(intents))
    adam = optim.Adam(model.parameters(), lr=1e-3)
    rng = torch.Generator()
    rng.manual_seed(42)
    for epoch in range(30):  # noqa: B007
        order = torch.randperm(train_x.size(0), generator=rng)
        for start in range(0, len(order), 32):
            chosen = order[start : start + 32]
            loss = loss_fn(model(train_x[chosen]), train_y[chosen])
            adam.zero_grad()
            loss.backward()
            adam.step()

    def accuracy(x, y):
        return float((model(x).argmax(dim=-1) == y).sum()) / len(y)

    return accuracy(train_x, train_y), accuracy(val_x, val_y)


def report(name, x, y, val_x, val_y):
    a, b = fit(x, y, val_x, val_y)
    cosines = torch.cosine_similarity(x.unsqueeze(0), x.unsqueeze(1), dim=-1)
    print(f"{name}: train {a:.4f}, validation {b:.4f}, cosine {cosines.mean().item():.3f}")


P, Q = features(pretrained, train).detach(), features(pretrained, val).detach()
report("pretrained", P, labels(train), Q, labels(val))
F, G = features(random, train).detach(), features(random, val).detach()
report("random", F, labels(train), G, labels(val))
