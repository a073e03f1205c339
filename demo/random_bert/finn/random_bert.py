"""Lab random_bert."""

import torch
from transformers import AutoModel

from encoder import labels, load, pooled, tokenizer
from text import train, val

pretrained = load()
torch.manual_seed(42)
random = AutoModel.from_config(pretrained.config).eval()

print(type(random).__name__, sum(p.numel() for p in random.parameters()))


def features(model, df):
    texts = list(df["text"])
    done = 0
    rows = []
    while done < len(texts):
        chunk = texts[done : done + 8]
        batch = tokenizer(chunk, padding=True, truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            rows.append(pooled(model, batch))
    return torch.cat(rows)


Y, Z = labels(train), labels(val)
F = features(random, train)
G = features(random, val)
print(F.shape, G.shape)
