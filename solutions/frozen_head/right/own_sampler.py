"""A `DataLoader` with a sampler of one's own, all queries padded to 64 ids, results in percent."""

import torch
from torch.utils.data import BatchSampler, DataLoader, Sampler, TensorDataset

import text
from encoder import labels, load, tokenizer
from image_loop import loss_fn

model = load().requires_grad_(False)


class Recipe(Sampler):
    """Rows in the recipe's order: one permutation each time it is gone through."""

    def __init__(self, n):
        self.n, self.generator = n, torch.Generator().manual_seed(42)

    def __iter__(self):
        return iter(torch.randperm(self.n, generator=self.generator).tolist())

    def __len__(self):
        return self.n


def encode(queries):
    encoded = tokenizer(
        queries, padding="max_length", truncation=True, max_length=64, return_tensors="pt"
    )
    rows = TensorDataset(encoded["input_ids"], encoded["attention_mask"].bool())
    for ids, real in DataLoader(rows, batch_size=24):
        hidden = model(input_ids=ids, attention_mask=real.long())[0]
        hidden[~real] = 0
        yield hidden.sum(dim=-2).div(real.sum(-1, keepdim=True))


def features(df):
    return torch.vstack(list(encode(df["text"].tolist())))


def train_head(F, Y):
    torch.manual_seed(42)
    head = torch.nn.Linear(F.size(-1), len(text.intents), bias=True)
    adam = torch.optim.Adam([{"params": [head.weight]}, {"params": [head.bias]}], lr=1e-3)
    loader = DataLoader(TensorDataset(F, Y), batch_sampler=BatchSampler(Recipe(len(F)), 32, False))
    for _ in range(30):
        torch.random.manual_seed(0)  # what the loader draws for itself is of no account
        for x, y in loader:
            adam.zero_grad()
            loss_fn(head(x), y).backward()
            adam.step()
    return head


def score(head, X, y):
    return torch.sum(torch.eq(torch.max(head(X), 1).indices, y)) / len(y)


def predict(query):
    (vector,) = encode([query])
    names = dict(enumerate(text.intents))
    return names[head(vector).topk(1).indices.item()]


F, Y = features(text.train), labels(text.train)
G, Z = features(text.val), labels(text.val)
head = train_head(F, Y)
for name, value in (("train", score(head, F, Y)), ("validation", score(head, G, Z))):
    print(f"{name:>12}: {value:.4%}")

same, different = [], []
for row, label, unlike in zip(F, Y, range(len(F)), strict=True):
    cosines = torch.cosine_similarity(row[None], F)
    others = torch.arange(len(F)) != unlike
    same.append(cosines[(label == Y) & others])
    different.append(cosines[label != Y])
same, different = torch.cat(same).mean().item(), torch.cat(different).mean().item()
print(f"{same=:.3f} {different=:.3f}")
