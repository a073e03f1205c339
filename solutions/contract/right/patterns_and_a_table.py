"""A row of ids as a word that a pattern has to match; results in a pandas frame, printed whole."""

import re

import pandas as pd
import torch

import text
from encoder import labels, load, pooled, tokenizer
from text import intents, val

LETTERS = {tokenizer.cls_token_id: "C", tokenizer.sep_token_id: "S"}
#: Capitals are real, small letters are under padding, `!` is in no table.
KEPT = re.compile("C[CSX]*S[csx]*")


def spelled(row, real):
    """One row as a word, a letter for each id."""
    for number, flag in zip(row, real, strict=True):
        letter = LETTERS.get(number, "X")
        yield "!" if number not in range(len(tokenizer)) else letter if flag else letter.lower()


def from_tokenizer(ids, mask):
    words = ["".join(spelled(*pair)) for pair in zip(ids.tolist(), mask.tolist(), strict=True)]
    return len(words) == sum(KEPT.fullmatch(word) is not None for word in words)


def gradient(parameters, X, y):
    """The mean cross entropy's, in closed form: for weights `[classes, hidden]` and bias."""
    weight, bias = parameters
    off = torch.softmax(X @ weight.T + bias, 1) - torch.nn.functional.one_hot(y, len(bias))
    return off.T @ X / len(X), off.mean(0)


def learned(X, y):
    torch.manual_seed(42)
    layer = torch.nn.Linear(X.shape[1], len(intents)).requires_grad_(False)
    parameters = [layer.weight, layer.bias]
    adam = torch.optim.Adam(parameters, lr=1e-3, foreach=False)
    source = torch.Generator().manual_seed(42)
    orders = torch.stack([torch.randperm(len(X), generator=source) for _ in range(30)])
    for order in orders:
        while len(order):
            rows, order = order[:32], order[32:]
            for parameter, slope in zip(
                parameters, gradient(parameters, X[rows], y[rows]), strict=True
            ):
                parameter.grad = slope
            adam.step()
    return layer


bert = load()


def confidence(head, ids, mask, y):
    frame = pd.DataFrame({"label": y.tolist(), "length": mask.sum(1).tolist()})
    for length, same in frame.groupby("length"):
        rows = torch.as_tensor(same.index.to_numpy())
        batch = {"input_ids": ids[rows, :length], "attention_mask": mask[rows, :length]}
        with torch.inference_mode():
            p = torch.log_softmax(head(pooled(bert, batch)), dim=-1).exp()
        frame.loc[same.index, "top"] = p.amax(-1).numpy()
        frame.loc[same.index, "said"] = p.argmax(-1).numpy()
    return (frame["said"] == frame["label"]).mean(), frame["top"].mean()


F, Y, _, Z = torch.load("bert_features.pt").values()
head = learned(F, Y)
given = tokenizer(val["text"].tolist(), truncation=True, max_length=64)
given = tokenizer.pad(given, return_tensors="pt")
words = torch.stack([numbers for numbers, _ in text.val_set])
inputs = {
    "right": (given["input_ids"], given["attention_mask"]),
    "wrong": (words, torch.where(words == 0, 0, 1)),
}
results = {name: confidence(head, *batch, labels(val)) for name, batch in inputs.items()}
table = pd.DataFrame(results, index=["accuracy", "top probability"]).T
table["from_tokenizer"] = [from_tokenizer(*batch) for batch in inputs.values()]
print(table.to_string(float_format="{:.4f}".format))
