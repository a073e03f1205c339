"""What is asked of a submission to `frozen_head`: each public function is a question to its names.

Functions are asked about frames, features, heads and queries of the questions' own, so that a
mistake in one name is not met again in the next.
"""

import copy

import numpy as np
import pandas as pd
import torch
from torch import nn

import course_bundle
import text
from encoder import batches, labels, load, pooled, tokenizer

#: Where `batches` cuts a query.
_CUT = 64
#: How many rows are put to `train_head`: its last batch of 32 is not full.
_ROWS = 109


def gradients(m):
    """Whether what `features` gives needs a gradient."""
    found = m.features(_frame(_short()[:3]))
    return isinstance(found, torch.Tensor) and found.requires_grad


def features(m):
    """Features of the longest and the shortest test queries, side by side."""
    ordered = sorted(_short(), key=lambda query: (len(query), query))
    return _features(m, [q for pair in zip(ordered[-8:], ordered[:8], strict=True) for q in pair])


def features_many(m):
    """Features of more rows than a batch holds, kept short; some of them."""
    queries = list(text.test["text"])
    queries = [queries[i % len(queries)].split() for i in range(139)]
    found = _features(m, [" ".join(words[: 1 + i % 5]) for i, words in enumerate(queries)])
    return {"shape": found["shape"], "rows": found["rows"][::6], "last": found["rows"][-2:]}


def features_long(m):
    """Features of a query of far more than 64 ids, among two short ones."""
    queries = list(text.val["text"])
    return _features(m, ["why?", " ".join(queries[:30]), queries[0]])


def features_one(m):
    """Features of a frame with one row."""
    return _features(m, list(text.val["text"])[3:4])


def train_head(m):
    """Two heads, one after another, for the same features and labels."""
    _, F, Y = _given(_ROWS)
    return [_head(m.train_head(F.clone(), Y.clone())) for _ in range(2)]


def score(m):
    """Accuracies of one head: where it is right on two rows of three, and where on all."""
    centres, X, y = _given(61)
    head = nn.Linear(*reversed(centres.shape))
    with torch.no_grad():
        head.weight.copy_(centres)
        head.bias.zero_()
    some = torch.where(torch.arange(len(y)) % 3 == 0, (y + 1) % len(centres), y)
    return [m.score(head, X.clone(), some), m.score(head, X.clone(), y.clone())]


def F(m):
    """Some columns of every row, and some whole rows, of the training features."""
    return _sampled(_matrix(m.F, "F"))


def G(m):
    """The same of the validation features."""
    return _sampled(_matrix(m.G, "G"))


def Y(m):
    """The training labels."""
    return _labels(m.Y)


def Z(m):
    """The validation labels."""
    return _labels(m.Z)


def head(m):
    """The script's head: shapes, bias and some rows of the weights."""
    return _head(m.head)


def predict(m):
    """What `predict` gives for each of some queries of like length."""
    return [_name(m.predict(query)) for query in _queries()]


def predict_long(m):
    """What `predict` gives for queries of far more than 64 ids."""
    return [_name(m.predict(query)) for query in _long_queries()]


def margins(m):
    """By how much the largest logit of each query exceeds the next, by the script's head.

    Used of the reference only: where it is small, a head that is as right may say otherwise.
    """
    weight, bias = _parameters(m.head)
    encoder, found = load(), {}
    for name, queries in (("predict", _queries()), ("predict_long", _long_queries())):
        with torch.no_grad():
            parts = [pooled(encoder, batch) for batch, _ in batches(_frame(queries), 32)]
        top = (torch.cat(parts) @ weight.T + bias).topk(2).values
        found[name] = (top[:, 0] - top[:, 1]).tolist()
    return found


def same(m):
    """The mean cosine within intents."""
    return m.same


def different(m):
    """The mean cosine between intents."""
    return m.different


def accuracies(m):
    """What share of its own training and validation rows the script's head gets right."""
    weight, bias = (entries.double() for entries in _parameters(m.head))
    found = []
    for X, y in ((_matrix(m.F, "F"), m.Y), (_matrix(m.G, "G"), m.Z)):
        guesses = (X.double() @ weight.T + bias).argmax(1)
        found.append((guesses == torch.tensor(_labels(y))).double().mean().item())
    return found


def model(m):
    """Mode and states of the encoder. Asked last, when all functions have used it."""
    if not isinstance(m.model, nn.Module):
        raise TypeError(f"`model` should be an encoder, it is {m.model!r:.60}")
    training = sum(module.training for module in m.model.modules())
    still = copy.deepcopy(m.model).eval()
    given = tokenizer([*text.val["text"][:3], "why?"], padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = still(**given).last_hidden_state  # [queries, ids, hidden]
    return {"training": training, "states": hidden[given["attention_mask"].bool()][:24]}


def _short():
    """The test queries that no one has to cut."""
    queries = list(text.test["text"])
    ids = tokenizer(queries)["input_ids"]
    return [query for query, row in zip(queries, ids, strict=True) if len(row) <= _CUT]


def _queries():
    """Test queries, as they are and said twice over."""
    queries = _short()[:24]
    return queries + [f"{query} {query}" for query in queries[::4] if len(query) < _CUT]


def _long_queries():
    """Queries that begin with those of one intent, past the cut, and go on with another's."""
    by_intent = [list(rows["text"]) for _, rows in text.train.groupby("category", sort=True)]
    by_intent = sorted(by_intent, key=len, reverse=True)[:8]  # stable, so alike everywhere
    found = []
    for first, second in zip(by_intent[:4], by_intent[4:], strict=True):
        begin, end = (_repeated(queries, size) for queries, size in ((first, 72), (second, 260)))
        found.append(f"{begin} {end}")
    return found


def _repeated(queries, size):
    """Queries one after another, from the first again, until they have so many ids."""
    told = ""
    for i in range(size):
        told = f"{told} {queries[i % len(queries)]}".strip()
        if len(tokenizer(told)["input_ids"]) >= size:
            break
    return told


def _frame(queries):
    """A frame of queries with an index of no use, as `train` has."""
    index = [(7 * i + 3) % 1009 for i in range(len(queries))]
    return pd.DataFrame({"text": queries, "category": text.intents[0]}, index=index)


def _features(m, queries):
    """What `features` gives for a frame of these queries, with its shape."""
    found = _matrix(m.features(_frame(queries)), "what `features` gives")
    return {"shape": list(found.shape), "rows": found}


def _matrix(value, what):
    """A tensor, an array or a list of rows as a plain matrix."""
    if isinstance(value, list | tuple) and value:
        value = torch.stack([torch.as_tensor(row) for row in value])
    if isinstance(value, np.ndarray):
        value = torch.as_tensor(value)
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{what} should be a tensor [rows, hidden], it is {value!r:.60}")
    if value.dim() != 2:
        raise TypeError(f"{what} should be [rows, hidden], it has shape {list(value.shape)}")
    return value.detach()


def _sampled(matrix):
    """The shape, two columns of all rows, and some rows in full."""
    some = [*range(6), *range(6, len(matrix), 1 + len(matrix) // 12)]
    return {
        "shape": list(matrix.shape),
        "columns": matrix[:, :2],
        "rows": matrix[[i for i in some if i < len(matrix)]],
    }


def _labels(value):
    """Labels as a list of whole numbers, whatever holds them."""
    if isinstance(value, (torch.Tensor, np.ndarray, pd.Series)):
        value = value.tolist()
    return [one.item() if hasattr(one, "item") else one for one in value]


def _name(value):
    """A prediction as text where it is one, so that any kind of text will do."""
    return str(value).strip() if isinstance(value, str) else value


def _given(rows):
    """Centres `[classes, hidden]`, features around them and labels, the same on every machine.

    Eighths of whole numbers: exact in float32, and so are the sums that lead to them. They depend
    on the case's rows, so that a head that is right in one case is none in another.
    """
    classes, hidden = len(course_bundle.intents), course_bundle.config()["hidden_size"]
    generator = torch.Generator().manual_seed(int(labels(text.train).sum()))
    centres = torch.randint(-4, 5, (classes, hidden), generator=generator)
    y = torch.randint(0, classes, (rows,), generator=generator)
    X = centres[y] + torch.randint(-8, 9, (rows, hidden), generator=generator)
    return centres / 8, X / 8, y


def _head(head, count=12):
    """Shapes, bias and about so many rows of the weights of a head."""
    weight, bias = _parameters(head)
    rows = range(0, len(weight), max(1, len(weight) // count)) if weight.dim() else []
    found = {"weight shape": list(weight.shape), "weight": weight[list(rows)]}
    return found | {"bias shape": list(bias.shape), "bias": bias}


def _parameters(head):
    """The weight and bias of a linear layer, also of one inside another module."""
    if isinstance(head, nn.Module):
        inner = [module for module in head.modules() if isinstance(module, nn.Linear)]
        head = inner[0] if len(inner) == 1 else head
    weight, bias = getattr(head, "weight", None), getattr(head, "bias", None)
    if weight is None or bias is None:
        raise TypeError(f"a head should have `weight` and `bias`, this is {head!r:.60}")
    return torch.as_tensor(weight).detach(), torch.as_tensor(bias).detach()
