"""The encoder is called with the ids alone, so its layers attend to the padding as if it were
words; the masked mean afterwards does not undo that. Pass the whole batch, `model(**batch)`, which
brings the attention mask along, and compare a short query alone and beside a long one.

Loses: features, encoded, lines
"""

import torch
from torch import nn
from transformers import AutoModel

from encoder import batches, labels, load
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
    parts = []
    with torch.no_grad():
        for batch, _ in batches(df, 32):
            hidden = model(batch["input_ids"]).last_hidden_state  # [rows, ids, hidden]
            mask = batch["attention_mask"].unsqueeze(-1)
            parts.append((hidden * mask).sum(1) / mask.sum(1))
    return torch.cat(parts)


def fit(F, Y, G, Z):
    """Training and validation accuracy of a head trained on features F `[n, hidden]`, labels Y."""
    torch.manual_seed(42)
    head = nn.Linear(F.shape[1], len(intents))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.001)
    generator = torch.Generator().manual_seed(42)
    for _ in range(30):
        for rows in torch.randperm(len(F), generator=generator).split(32):
            optimizer.zero_grad()
            loss_fn(head(F[rows]), Y[rows]).backward()
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
