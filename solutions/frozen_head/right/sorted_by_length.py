"""Queries sorted by length before they are put into batches, put back by index; inference mode."""

import torch
from torch import nn

from encoder import labels, load, tokenizer
from image_loop import loss_fn
from text import intents, train, val

model = load()


@torch.inference_mode()
def encode(queries):
    """The masked mean of each text `[texts, hidden]`."""
    encoded = tokenizer(list(queries), truncation=True, max_length=64)["input_ids"]
    order = sorted(range(len(encoded)), key=lambda row: -len(encoded[row]))
    found = torch.zeros(len(encoded), model.config.hidden_size)
    for start in range(0, len(order), 48):
        rows = order[start : start + 48]
        batch = tokenizer.pad({"input_ids": [encoded[row] for row in rows]}, return_tensors="pt")
        mask = batch["attention_mask"].unsqueeze(2)
        states = torch.where(mask > 0, model(**batch)[0], 0.0)
        found[rows] = states.sum(1).div(mask.sum(1).clamp(min=1))
    return found


def features(df):
    return encode(df["text"]).clone()  # a tensor of inference mode cannot be kept for the gradient


def train_head(F, Y):
    torch.manual_seed(42)
    head = nn.Linear(F.shape[-1], len(intents))
    optimizer = torch.optim.Adam(head.parameters())
    generator = torch.Generator()
    generator.manual_seed(42)
    permutations = [torch.randperm(len(Y), generator=generator) for _ in range(30)]
    for rows in (rows for order in permutations for rows in order.split(32)):
        head.zero_grad(set_to_none=False)
        loss_fn(head(F[rows]), Y[rows]).backward()
        optimizer.step()
    return head


@torch.no_grad()
def score(head, X, y):
    """Accuracy, as text with four decimals."""
    return f"{head(X).argmax(dim=1).eq(y).sum().item() / len(y):.4f}"


def predict(query):
    best = head(encode([query])).max(dim=1).indices
    return intents[best.item()]


def cosines():
    """The two means, by rows: row i's cosines with the rows before it."""
    unit = F / F.norm(dim=1, keepdim=True)
    sums, counts = [0.0, 0.0], [0, 0]
    for i in range(1, len(unit)):
        found = (unit[:i] @ unit[i]).double()
        for k, keep in enumerate((Y[:i] == Y[i], Y[:i] != Y[i])):
            sums[k] += found[keep].sum().item()
            counts[k] += int(keep.sum())
    return [total / count for total, count in zip(sums, counts, strict=True)]


if __name__ == "__main__":
    F, Y = features(train), labels(train)
    G, Z = features(val), labels(val)
    head = train_head(F, Y)
    same, different = cosines()
    print("training accuracy", score(head, F, Y), "validation accuracy", score(head, G, Z))
    print("one intent", round(same, 3), "- different intents", round(different, 3))
