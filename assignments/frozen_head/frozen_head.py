"""Frozen head: a linear classifier on an encoder's features, which are computed once.

Replace each `...` and each `raise` by your own code. The task is in README.md.
"""

import torch
from torch import nn

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

# TODO 1: the pretrained encoder, in evaluation mode. Nothing below may train it.
model = ...


def features(df):
    """Encode the queries of a frame, without gradients.

    Args:
        df: a frame with the columns `text` and `category`, n rows.

    Returns:
        A tensor `[n, hidden]` that needs no gradient: for each query, in the frame's order, the
        mean of the last hidden states over its real tokens (cut at 64 ids, special tokens counted,
        padding not).
    """
    raise NotImplementedError("TODO 2: features is not yet written")


def train_head(F, Y):
    """Train a head by the recipe in README.md.

    Args:
        F: features `[n, hidden]`.
        Y: labels `[n]`, whole numbers from 0.

    Returns:
        The head, an `nn.Linear` from hidden to the number of intents.
    """
    raise NotImplementedError("TODO 3: train_head is not yet written")


def score(head, X, y):
    """The accuracy of a head.

    Args:
        head: an `nn.Linear`.
        X: features `[n, hidden]`.
        y: labels `[n]`.

    Returns:
        The fraction of rows whose largest logit is at their label, 0 to 1.
    """
    raise NotImplementedError("TODO 4: score is not yet written")


# TODO 5: the features `[n, hidden]` and labels `[n]` of the training queries, then those of the
# validation queries, each computed once; and the head that is trained on the first two.
F = ...
Y = ...
G = ...
Z = ...
head = ...

# TODO 6: print the training and the validation accuracy of the head.


def predict(query):
    """The intent of one query, by `head`.

    Args:
        query: a text.

    Returns:
        The name of an intent, one of `intents`.
    """
    raise NotImplementedError("TODO 7: predict is not yet written")


# TODO 8: the mean cosine over all pairs of two training queries of one intent, and over all pairs
# of two training queries of different intents. Print both.
same = ...
different = ...
