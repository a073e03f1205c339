"""A query at a time, so that nothing is ever padded; lists for the rows, loops for the cosines."""

import itertools
import math

import torch
from torch.nn import Linear
from torch.nn.functional import cosine_similarity, cross_entropy

import text
from encoder import load, tokenizer

model = load()
for parameter in model.parameters():
    parameter.requires_grad = False


def vector(query):
    """The mean of a query's states `[hidden]`."""
    ids = tokenizer(query, truncation=True, max_length=64)["input_ids"]
    return model(torch.tensor([ids])).last_hidden_state[0].mean(0)


def features(df):
    return [vector(query) for query in df["text"]]


def intent_numbers(df):
    return [text.intents.index(name) for name in df["category"]]


def train_head(F, Y):
    X, y = torch.stack(list(F)), torch.as_tensor(Y)
    torch.manual_seed(42)
    head = Linear(X.size(1), len(text.intents))
    adam = torch.optim.Adam(head.parameters(), lr=1e-3)
    shuffler = torch.Generator()
    shuffler.manual_seed(42)
    epoch = 0
    while epoch < 30:
        order, start = torch.randperm(len(X), generator=shuffler), 0
        while start < len(order):
            chosen = order[start : start + 32]
            loss = cross_entropy(head(X[chosen]), y[chosen])
            head.zero_grad()
            loss.backward()
            adam.step()
            start += 32
        epoch += 1
    return head


def score(head, X, y):
    right = 0
    for row, label in zip(X, y, strict=True):
        right += int(torch.argmax(head(row))) == int(label)
    return right / len(y)


def predict(query):
    return text.intents[int(torch.argmax(head(vector(query))))]


F, G = features(text.train), features(text.val)
Y, Z = intent_numbers(text.train), intent_numbers(text.val)
head = train_head(F, Y)

groups = {True: [], False: []}
matrix = torch.stack(F)
for i in range(len(F) - 1):
    row = cosine_similarity(matrix[i], matrix[i + 1 :])
    for cosine, label in zip(row.tolist(), itertools.islice(Y, i + 1, None), strict=True):
        groups[label == Y[i]].append(cosine)
same, different = (f"{math.fsum(groups[key]) / len(groups[key]):.3f}" for key in (True, False))

for number in (score(head, F, Y), score(head, G, Z)):
    print(f"{number:.4f}")
print(same)
print(different)
