"""Weighted sums by einsum over batches of 50, `fit` in double precision, the cosine by a loop."""

import torch
from torch.nn.functional import cosine_similarity

import encoder
import text
from image_loop import loss_fn

pretrained = encoder.load()
torch.manual_seed(42)
random = type(pretrained)(pretrained.config)
random.eval()


def features(model, df):
    """The weights of a query's tokens add up to one, so their weighted sum is the mean."""
    out = []
    for batch, _ in encoder.batches(df, 50):
        with torch.no_grad():
            hidden = model(**batch)[0]
        mask = batch["attention_mask"].to(hidden.dtype)
        out.append(torch.einsum("qth,qt->qh", hidden, mask / mask.sum(1, keepdim=True)))
    return torch.vstack(out)


def accuracy(head, X, y):
    """The share of rows whose largest logit is at their label."""
    with torch.no_grad():
        return float((head(X).argmax(-1) == y).double().mean())


def fit(F, Y, G, Z):
    """A head by the recipe, then its two accuracies as text."""
    torch.manual_seed(42)
    head = torch.nn.Linear(F.size(1), len(text.intents)).double()
    F, G = F.double(), G.double()
    adam, generator = torch.optim.Adam(head.parameters(), lr=1e-3), torch.Generator()
    generator.manual_seed(42)
    epoch = 0
    while epoch < 30:
        order, start = torch.randperm(F.size(0), generator=generator), 0
        while start < len(order):
            rows = order[start : start + 32]
            head.zero_grad()
            loss_fn(head(F[rows]), Y[rows]).backward()
            adam.step()
            start += 32
        epoch += 1
    return [f"{accuracy(head, F, Y):.4f}", f"{accuracy(head, G, Z):.4f}"]


def mean_cosine(X):
    """Row by row: the mean of each row's cosines with all rows."""
    return sum(cosine_similarity(row.unsqueeze(0), X).mean().item() for row in X) / len(X)


Y, Z = encoder.labels(text.train), encoder.labels(text.val)
tables = [model.embeddings.word_embeddings.weight for model in (pretrained, random)]
print(
    f"{random.__class__.__name__}: {sum(map(torch.numel, random.parameters()))} parameters, "
    f"embeddings equal: {bool(torch.equal(*tables))}"
)
for name, model in {"pretrained": pretrained, "random": random}.items():
    F, G = features(model, text.train), features(model, text.val)
    print(f"{name:<12}", *fit(F, Y, G, Z), f"{mean_cosine(F):.3f}")
