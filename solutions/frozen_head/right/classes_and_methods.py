"""A classifier as a class: the names of the task are its methods and what they gave."""

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd
import torch
from torch import nn

import encoder as course
import text
from image_loop import loss_fn


class Head(nn.Module):
    """A linear layer inside a module of its own."""

    def __init__(self, hidden, classes):
        super().__init__()
        self.linear = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.linear(x)


@dataclass
class Classifier:
    names: list
    model: nn.Module = field(default_factory=lambda: course.load().requires_grad_(False))

    def features(self, df):
        parts = []
        for batch, _ in course.batches(df, 40):
            hidden = self.model(**batch).last_hidden_state
            keep = batch["attention_mask"].bool()
            parts += [states[real].mean(0) for states, real in zip(hidden, keep, strict=True)]
        return torch.stack(parts)

    def train_head(self, F, Y):
        torch.manual_seed(42)
        head = Head(F.shape[1], len(self.names))
        optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
        generator = torch.Generator().manual_seed(42)
        for _ in range(30):
            order = torch.randperm(F.shape[0], generator=generator)
            for start in range(0, F.shape[0], 32):
                rows = order[start : start + 32]
                optimizer.zero_grad()
                loss_fn(head(F[rows]), Y[rows]).backward()
                optimizer.step()
        return head.eval()

    @staticmethod
    def score(head, X, y):
        wrong = torch.count_nonzero(head(X).argmax(1) - y)
        return 1 - int(wrong) / len(y)

    @cached_property
    def data(self):
        return [(self.features(df), course.labels(df)) for df in (text.train, text.val)]

    @cached_property
    def head(self):
        return self.train_head(*self.data[0])

    def predict(self, query):
        row = pd.DataFrame([{"text": query, "category": self.names[-1]}])
        return self.names[self.head(self.features(row))[0].argmax().item()]


classifier = Classifier(text.intents)
model, head, predict = classifier.model, classifier.head, classifier.predict
features, train_head, score = classifier.features, classifier.train_head, classifier.score
(F, Y), (G, Z) = classifier.data

table = pd.DataFrame(torch.corrcoef(F).numpy()) * 0  # of the right shape, filled below
unit = nn.functional.normalize(F.double())
table.loc[:, :] = (unit @ unit.T).numpy()
pairs = table.stack().reset_index()
pairs.columns = ["a", "b", "cosine"]
pairs = pairs[pairs["a"] != pairs["b"]]
agree = Y.numpy()[pairs["a"]] == Y.numpy()[pairs["b"]]
same, different = pairs["cosine"][agree].mean(), pairs["cosine"][~agree].mean()

print({"train": round(score(head, F, Y), 4), "validation": round(score(head, G, Z), 4)})
print({"same": round(same, 3), "different": round(different, 3)})
