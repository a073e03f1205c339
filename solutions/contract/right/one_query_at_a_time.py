"""Each query encoded by itself with nothing but its real ids; results kept as text."""

import functools

import torch
from torch import nn
from torch.nn import functional as fn

from encoder import labels, load, tokenizer
from image_loop import loss_fn
from text import intents, val, val_set

encode = load().requires_grad_(False)


def broken(row, real):
    """Why one row breaks the contract, None where it keeps it."""
    numbers, flags = row.tolist(), real.tolist()
    marks = "".join(map(str, flags))
    core = marks.rstrip("0")
    if core == "" or "0" in core:
        return "real ids do not stand together from the first column on"
    if not set(numbers) <= vocabulary():
        return "an id that is not in the table"
    tokens = tokenizer.convert_ids_to_tokens(numbers[: len(core)])
    if tokens[0] != tokenizer.cls_token:
        return f"it begins with {tokens[0]}"
    return None if tokens[-1] == tokenizer.sep_token else f"it ends with {tokens[-1]}"


@functools.cache
def vocabulary():
    return set(tokenizer.get_vocab().values())


def from_tokenizer(ids, mask):
    reasons = (broken(*pair) for pair in zip(ids, mask, strict=True))
    return next((False for reason in reasons if reason), True)


def recipe():
    kept = torch.load("bert_features.pt")
    torch.random.manual_seed(42)
    layer = nn.Linear(kept["F"].size(1), len(intents))
    shuffle = torch.Generator()
    shuffle.manual_seed(42)
    adam = torch.optim.Adam(layer.parameters())
    for order in [torch.randperm(len(kept["Y"]), generator=shuffle) for epoch in range(30)]:
        for rows in order.split(32):
            adam.zero_grad(set_to_none=False)
            loss_fn(layer(kept["F"][rows]), kept["Y"][rows]).backward()
            adam.step()
    return layer.eval()


def confidence(head, ids, mask, y):
    hits, tops = 0, []
    for row, real, label in zip(ids, mask, y, strict=True):
        alone = row[real.bool()].unsqueeze(0)
        states = encode(input_ids=alone).last_hidden_state.squeeze(0)
        p = fn.softmax(fn.linear(states.mean(0), head.weight, head.bias), -1)
        hits += int(torch.argmax(p) == label)
        tops.append(max(p.tolist()))
    return f"{hits / len(tops):.4f}", f"{sum(tops) / len(tops):.4f}"


head = recipe()
answers = labels(val)
given = tokenizer(
    list(val.text), return_tensors="pt", padding="longest", truncation=True, max_length=64
)
word_ids = torch.stack([ids for ids, _ in val_set])
results = {
    "right": confidence(head, given.input_ids, given.attention_mask, answers),
    "wrong": confidence(head, word_ids, (word_ids > 0).int(), answers),
}
print("right ids:", ", ".join(results["right"]))
print("from the tokenizer?", from_tokenizer(given.input_ids, given.attention_mask))
print("wrong ids:", ", ".join(results["wrong"]))
print("from the tokenizer?", from_tokenizer(word_ids, (word_ids > 0).int()))
