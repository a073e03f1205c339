"""What is pretraining worth? The same encoder with trained and with random weights."""

import torch
from torch.nn import Linear
from torch.nn.functional import normalize
from torch.optim import Adam
from transformers import AutoModel

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

SEED, EPOCHS, RATE, ROWS = 42, 30, 0.001, 32


def untrained(config):
    torch.manual_seed(SEED)
    return AutoModel.from_config(config).eval()


def features(model, df):
    with torch.inference_mode():
        rows = [pooled(model, batch) for batch, _ in batches(df, ROWS)]
    return torch.cat(rows).clone()


def hits(head, X, y):
    with torch.no_grad():
        return head(X).argmax(-1).eq(y).double().mean().item()


def fit(F, Y, G, Z):
    torch.manual_seed(SEED)
    head = Linear(F.shape[-1], len(intents))
    optimizer = Adam(head.parameters(), lr=RATE)
    shuffle = torch.Generator().manual_seed(SEED)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(F), generator=shuffle).split(ROWS):
            loss = loss_fn(head(F[chosen]), Y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [hits(head, F, Y), hits(head, G, Z)]


def crowding(F):
    N = normalize(F, dim=1)
    return (N @ N.T).mean().item()


pretrained = load()
random = untrained(pretrained.config)
words = pretrained.embeddings.word_embeddings.weight
print(
    f"{type(random).__name__} with {sum(p.numel() for p in random.parameters())} parameters;",
    f"same word embeddings: {torch.equal(words, random.embeddings.word_embeddings.weight)}",
)

Y, Z = labels(train), labels(val)
for name, model in {"pretrained": pretrained, "random": random}.items():
    F, G = features(model, train), features(model, val)
    accuracy, unseen = fit(F, Y, G, Z)
    print(f"{name:10} train {accuracy:.4f}  val {unseen:.4f}  cosine {crowding(F):.3f}")
