"""The head ends in a softmax, and `loss_fn` takes one of its own: it wants logits, and made of your
probabilities, all between 0 and 1, next to equal ones. The head learns, but far too slowly. Give
`loss_fn` what the linear layer gives.

Loses: fit, lines
"""

import torch
from torch import nn
from transformers import AutoModel

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

pretrained = load()
torch.manual_seed(42)
random = AutoModel.from_config(pretrained.config).eval()

embeddings = [model.get_input_embeddings().weight for model in (pretrained, random)]
parameters = sum(p.numel() for p in random.parameters())
print(type(random).__name__, parameters, torch.equal(*embeddings))


def features(model, df):
    """The masked mean of each query's last hidden states `[queries, hidden]`, in df's order."""
    # Queries of like length share a batch: much less padding to compute, and the same features.
    order = torch.tensor(df["text"].str.len().to_numpy()).argsort()
    with torch.no_grad():
        parts = [pooled(model, batch) for batch, _ in batches(df.iloc[order.numpy()], 32)]
    return torch.cat(parts)[order.argsort()]


def fit(F, Y, G, Z):
    """Training and validation accuracy of a head trained on features F `[n, hidden]`, labels Y."""
    torch.manual_seed(42)
    head = nn.Sequential(nn.Linear(F.shape[1], len(intents)), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in torch.randperm(len(F), generator=generator).split(32):
            probabilities = head(F[rows])
            loss = loss_fn(probabilities, Y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return [(head(X).argmax(1) == y).double().mean().item() for X, y in ((F, Y), (G, Z))]


def mean_cosine(X):
    """The mean cosine over every pair of rows of X `[n, hidden]`, a row with itself included."""
    unit = nn.functional.normalize(X.double())
    return (unit @ unit.T).mean().item()


Y, Z = labels(train), labels(val)
for name, model in (("pretrained", pretrained), ("random", random)):
    F, G = features(model, train), features(model, val)
    train_accuracy, val_accuracy = fit(F, Y, G, Z)
    print(name, f"{train_accuracy:.4f} {val_accuracy:.4f} {mean_cosine(F):.3f}")
