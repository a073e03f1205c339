"""Classes behind the functions, results in a record, and prints under a main guard."""

from dataclasses import astuple, dataclass

import torch
from torch.nn.functional import cosine_similarity, cross_entropy, linear
from transformers import AutoModel

import encoder
import text


class Encoder:
    """A model with its way to encode a frame, a query at a time."""

    def __init__(self, model):
        self.model = model.eval()

    @torch.no_grad()
    def __call__(self, df):
        rows = []
        for query in df["text"]:
            ids = encoder.tokenizer(query, truncation=True, max_length=64, return_tensors="pt")
            rows.append(self.model(**ids)[0][0].mean(0))
        return torch.stack(rows).double()


class Head:
    """A linear layer and the recipe that trains it."""

    def __init__(self, width, classes):
        torch.manual_seed(42)
        layer = torch.nn.Linear(width, classes)
        self.parameters = list(layer.parameters())

    def __call__(self, X):
        return linear(X.float(), *self.parameters)

    def train(self, X, y):
        adam = torch.optim.Adam(self.parameters, lr=0.001)
        generator = torch.Generator().manual_seed(42)
        for _ in range(30):
            order = torch.randperm(len(X), generator=generator)
            for some in torch.split(order, 32):
                adam.zero_grad()
                cross_entropy(self(X[some]), y[some]).backward()
                adam.step()
        return self

    def accuracy(self, X, y):
        return sum(
            int(guess == label) for guess, label in zip(self(X).argmax(1), y, strict=True)
        ) / len(y)


@dataclass
class Result:
    train: float
    val: float
    cosine: float


def build():
    torch.manual_seed(42)
    return AutoModel.from_config(pretrained.config)


def features(model, df):
    return Encoder(model)(df)


def fit(F, Y, G, Z):
    head = Head(F.shape[-1], len(text.intents)).train(F, Y)
    return [head.accuracy(F, Y), head.accuracy(G, Z)]


def measure(F, G):
    cosines = [cosine_similarity(row[None], F).mean() for row in F]
    scores = fit(F, encoder.labels(text.train), G, encoder.labels(text.val))
    return Result(*scores, float(torch.stack(cosines).mean()))


pretrained = encoder.load()
random = build()
F, G = features(random, text.train), features(random, text.val)

if __name__ == "__main__":
    ours, theirs = (m.embeddings.word_embeddings.weight for m in (random, pretrained))
    print("model", type(random).__name__, "parameters", sum(map(torch.numel, random.parameters())))
    print("same word embeddings:", torch.allclose(ours, theirs))
    print(
        "PRETRAINED",
        *astuple(measure(features(pretrained, text.train), features(pretrained, text.val))),
    )
    print("RANDOM (seed 42)", *astuple(measure(F, G)))
