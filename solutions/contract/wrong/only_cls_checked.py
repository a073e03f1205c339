"""Your `from_tokenizer` looks for [CLS] at the beginning of the rows and never at how they end, so
a row that was cut off or glued together passes. Look for [SEP] in each row's last real column as
well.

Loses: contract
"""

import torch
from torch import nn

from encoder import labels, load, pooled, tokenizer
from image_loop import loss_fn
from text import intents, val, val_set

bert = load()
CLS, SEP = tokenizer.cls_token_id, tokenizer.sep_token_id


def from_tokenizer(ids, mask):
    if len(ids) == 0:
        return True
    if ids.shape[1] == 0:
        return False
    if ids.min() < 0 or ids.max() >= len(tokenizer):
        return False
    if not torch.equal(mask, mask.cummin(1).values):  # once 0, always 0
        return False
    starts = (mask[:, 0] == 1) & (ids[:, 0] == CLS)
    return bool((starts).all())


saved = torch.load("bert_features.pt")
F, Y = saved["F"], saved["Y"]

torch.manual_seed(42)
head = nn.Linear(F.shape[1], len(intents))
opt = torch.optim.Adam(head.parameters(), lr=0.001)
g = torch.Generator().manual_seed(42)
for _ in range(30):
    for i in torch.randperm(len(F), generator=g).split(32):
        loss = loss_fn(head(F[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()


def confidence(head, ids, mask, y):
    with torch.no_grad():
        feats = [
            pooled(bert, {"input_ids": ids[i], "attention_mask": mask[i]})
            for i in torch.arange(len(ids)).split(64)
        ]
        probs = head(torch.cat(feats)).softmax(-1)
    top, guess = probs.max(-1)
    return [(guess == y).float().mean().item(), top.mean().item()]


Z = labels(val)
batch = tokenizer(list(val.text), padding=True, truncation=True, max_length=64, return_tensors="pt")
ids, mask = batch["input_ids"], batch["attention_mask"]
words = val_set.tensors[0]
word_mask = (words != 0).long()

results = {
    "right": confidence(head, ids, mask, Z),
    "wrong": confidence(head, words, word_mask, Z),
}
acc, p = results["right"]
print(f"right {acc:.4f} {p:.3f}", from_tokenizer(ids, mask))
acc, p = results["wrong"]
print(f"wrong {acc:.4f} {p:.3f}", from_tokenizer(words, word_mask))
