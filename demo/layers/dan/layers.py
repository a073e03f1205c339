"""Layers: which layer of the encoder holds the intents.

Replace each `...` and each `raise` by your own code. The task is in README.md.
"""

import torch
from torch import nn

from encoder import batches, labels, load
from image_loop import loss_fn
from text import intents, test, train, val


def views(df):
    """The views of a frame's queries, in one pass over them.

    Args:
        df: a frame of n queries with the columns `text` and `category`.

    Returns:
        A dict: `mean 0` to `mean L`, `cls L` and `pooler` -> features `[n, hidden]`, rows in the
        frame's order. L is the encoder's number of layers.
    """
    raise NotImplementedError("TODO 1: views is not yet written")


def fit(F, Y):
    """Train a head by the recipe in README.md.

    Args:
        F: features `[n, hidden]`.
        Y: labels `[n]`, whole numbers from 0.

    Returns:
        The head, an `nn.Linear` from hidden to the number of intents.
    """
    raise NotImplementedError("TODO 2: fit is not yet written")


def score(head, X, y):
    """The accuracy of a head.

    Args:
        head: an `nn.Linear`.
        X: features `[n, hidden]`.
        y: labels `[n]`.

    Returns:
        The fraction of rows whose largest logit is at their label, 0 to 1.
    """
    raise NotImplementedError("TODO 3: score is not yet written")


# TODO 4: the views of the training and of the validation queries (dicts as `views` gives them),
# and the labels of both (`[n]` each). Print the names of the views and the shape of `mean 0`.
T = ...
V = ...
Y = ...
Z = ...

# TODO 5: name of a view -> its head, trained on T and Y; name of a view -> the accuracy of its head
# on V and Z. Print a line for each view: name, training accuracy, validation accuracy.
heads = ...
scores = ...

# TODO 6: print whether `mean L` of T equals the kept features "F" of bert_features.pt within 1e-5.

# TODO 7: the name of the view that the validation queries prefer. Print it with the accuracy of its
# head on the test queries.
chosen = ...

# TODO 8: say here what the means of the layers show about pretraining with masked words.
