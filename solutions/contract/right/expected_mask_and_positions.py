"""The mask compared with the one that its lengths lead to; the softmax as a scaled exponential."""

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

from encoder import labels, load, tokenizer
from image_loop import loss_fn
from text import intents, val, val_set

model = load()
first, last, size = tokenizer.cls_token_id, tokenizer.sep_token_id, model.config.vocab_size


def from_tokenizer(ids, mask):
    rows, columns = ids.shape
    if rows == 0:
        return 1
    if columns == 0 or int(ids.amin()) < 0 or int(ids.amax()) > size - 1:
        return 0
    ends = mask.argmin(1) - 1  # -1, the last column, where there is no 0
    ends[mask.all(1)] = columns - 1
    for row in range(rows):
        end = int(ends[row])
        if end < 0 or mask[row, end + 1 :].any() or not mask[row, : end + 1].all():
            return 0
        if (int(ids[row, 0]), int(ids[row, end])) != (first, last):
            return 0
    return 1


class Shuffled:
    """The recipe's order of the rows, as a sampler of batches."""

    def __init__(self, rows):
        self.rows, self.generator = rows, torch.Generator().manual_seed(42)

    def __iter__(self):
        yield from torch.randperm(self.rows, generator=self.generator).split(32)


kept = torch.load("bert_features.pt")
data = TensorDataset(kept["F"], kept["Y"])
shuffled = Shuffled(len(data))
torch.manual_seed(42)
head = nn.Sequential(nn.Flatten(), nn.Linear(kept["F"].shape[1], len(intents)))
adam = optim.Adam(head.parameters(), lr=0.001)
for _ in range(30):
    for rows in shuffled:
        F, Y = data[rows]
        head.zero_grad()
        loss_fn(head(F), Y).backward()
        adam.step()


def confidence(head, ids, mask, y):
    right, sure, rows = 0, 0, 0
    for some, real, label in DataLoader(TensorDataset(ids, mask, y), batch_size=7):
        with torch.no_grad():
            out = model(input_ids=some, attention_mask=real)
            states = torch.where(real[..., None] == 1, out.last_hidden_state, 0)
            logits = head(states.sum(1).div(real.sum(1, keepdim=True)))
        highest, where = logits.sort(1, descending=True)
        sure += (1 / (highest - highest[:, :1]).exp().sum(1)).sum()
        right += (where[:, 0] == label).sum()
        rows += len(label)
    return right / rows, sure / rows


Z = labels(val)
tokens = tokenizer(
    val.text.tolist(), padding="max_length", truncation=True, max_length=64, return_tensors="pt"
)
ids, mask = tokens.input_ids, tokens.attention_mask
words = torch.as_tensor(val_set.tensors[0])
blank = words == 0
results = {"right": confidence(head, ids, mask, Z)}
print("Right ids")
print("  accuracy {:.4f}".format(results["right"][0]))
print("  probability {:.3f}".format(results["right"][1]))
print("  from the tokenizer:", bool(from_tokenizer(ids, mask)))
results["wrong"] = confidence(head, words, 1 - blank.long(), Z)
print("Wrong ids")
print("  accuracy {:.4f}".format(results["wrong"][0]))
print("  probability {:.3f}".format(results["wrong"][1]))
print("  from the tokenizer:", bool(from_tokenizer(words, 1 - blank.long())))
