"""What is asked of a submission to `layers`: each public function is a question to its names.

Inputs are the questions' own wherever a function is asked, so that a mistake in one function is not
met again in the next.
"""

import functools

import numpy as np
import pandas as pd
import torch
from torch import nn

import course_bundle
import text
from encoder import labels, tokenizer

#: Where `batches` cuts a query.
_CUT = 64
#: How many rows are put to `fit`: its last batch of 32 is not full.
_ROWS = 109


def views(m):
    """The views of the test queries: by name the shape, and rows from the ends and extremes.

    Of queries of more than 64 ids `long_query` asks.
    """
    ids = _ids(text.test)
    order = [row for row in np.argsort(ids, kind="stable").tolist() if ids[row] <= _CUT]
    ends = [row for row in (0, 1, 2, 3, *range(len(ids) - 4, len(ids))) if ids[row] <= _CUT]
    return _picked(_test_views(m), sorted({*order[:8], *order[-8:], *ends}))


def long_query(m):
    """The views of a query of far more than 64 ids, among two short ones."""
    queries, names = list(text.val["text"]), list(text.val["category"])
    queries = [queries[0], " ".join(queries[1:31]), queries[31]]
    df = pd.DataFrame({"text": queries, "category": [names[0], names[1], names[31]]})
    return _picked(_views(m, df), [0, 1, 2])


def fit(m):
    """Two heads, one after another, for the same features and labels."""
    _, F, Y = _given(_ROWS)
    return [_head(m.fit(F.clone(), Y.clone())) for _ in range(2)]


def score(m):
    """Accuracies of one head: where it is right on two rows of three, and where on all."""
    centres, X, y = _given(61)
    head = nn.Linear(*reversed(centres.shape))
    with torch.no_grad():
        head.weight.copy_(centres)
        head.bias.zero_()
    some = torch.where(torch.arange(len(y)) % 3 == 0, (y + 1) % len(centres), y)
    return [m.score(head, X.clone(), some), m.score(head, X.clone(), y.clone())]


def T(m):
    """Some rows of the training views."""
    return _some(m.T, "T", text.train)


def V(m):
    """Some rows of the validation views."""
    return _some(m.V, "V", text.val)


def Y(m):
    """The training labels."""
    return _labels(m.Y)


def Z(m):
    """The validation labels."""
    return _labels(m.Z)


def heads(m):
    """The head of each view: shapes, bias and a few rows of the weights, by name."""
    return {str(name): _head(head, 4) for name, head in _dict(m.heads, "heads").items()}


def scores(m):
    """Validation accuracy by name."""
    return {str(name): value for name, value in _dict(m.scores, "scores").items()}


def chosen(m):
    """The name that was chosen."""
    return str(m.chosen).strip()


def accuracies(m):
    """Training and test accuracy by name. Used of the reference only: any choice has its own."""
    train, test = (m.T, labels(text.train)), (_test_views(m), labels(text.test))
    return {
        frame: {name: _accuracy(head, found[name], right) for name, head in m.heads.items()}
        for frame, (found, right) in {"train": train, "test": test}.items()
    }


def sizes(m):  # noqa: ARG001 - every question takes the names
    """How many queries each frame has."""
    return {"train": len(text.train), "val": len(text.val), "test": len(text.test)}


def _accuracy(head, X, y):
    with torch.no_grad():
        return (head(X).argmax(1) == y).double().mean().item()


def _dict(value, name):
    if not hasattr(value, "items"):
        raise TypeError(f"`{name}` should be a dict, it is a {type(value).__name__}")
    return value


def _views(m, df):
    """What `views` gives for a frame of its own, without what autograd may have attached."""
    found = _dict(m.views(df.copy()), "views(df)")
    return {str(name): _tensor(view) for name, view in found.items()}


@functools.cache
def _test_views(m):
    """The views of the test queries, asked for once."""
    return _views(m, text.test)


def _tensor(value):
    """A tensor or an array as a plain tensor; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    return torch.as_tensor(value) if isinstance(value, np.ndarray) else value


def _picked(found, rows):
    """By name: the shape of a view and those of the rows that it has."""
    return {name: _rows(view, rows) for name, view in found.items()}


def _rows(view, rows):
    if not isinstance(view, torch.Tensor) or view.dim() == 0:
        return {"kind": type(view).__name__}
    return {"shape": list(view.shape), "rows": view[[row for row in rows if row < len(view)]]}


def _some(value, name, df):
    """The first rows, one in the middle, the longest query's and the last of each view."""
    found = {str(key): _tensor(view) for key, view in _dict(value, name).items()}
    longest = int(np.argmax(_ids(df)))
    return _picked(found, sorted({0, 1, len(df) // 2, longest, len(df) - 1}))


def _ids(df):
    """How many ids each query of a frame has before it is cut."""
    return [len(ids) for ids in tokenizer(list(df["text"]))["input_ids"]]


def _labels(value):
    """Labels as a list of whole numbers, whatever holds them."""
    if isinstance(value, (torch.Tensor, np.ndarray, pd.Series)):
        return value.tolist()
    return list(value)


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
        raise TypeError(f"fit(F, Y) should give a head with `weight` and `bias`, not {head!r:.60}")
    return torch.as_tensor(weight).detach(), torch.as_tensor(bias).detach()
