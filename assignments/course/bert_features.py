"""Make `bert_features.pt`: the frozen encoder's features, computed once and kept.

A dict of `F`, `Y` (training features `[rows, hidden]` and labels `[rows]`) and `G`, `Z` (the same
for validation): the mean of the last layer over the real tokens, in the frames' order.
"""

import torch

from encoder import batches, load, pooled
from text import train, val


def features(model, df):
    """Features `[rows, hidden]` and labels `[rows]` of a frame."""
    with torch.no_grad():
        pairs = [(pooled(model, batch), y) for batch, y in batches(df, 64)]
    return torch.cat([f for f, _ in pairs]), torch.cat([y for _, y in pairs])


model = load()
F, Y = features(model, train)
G, Z = features(model, val)
torch.save({"F": F, "Y": Y, "G": G, "Z": Z}, "bert_features.pt")
