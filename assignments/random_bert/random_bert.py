"""Random BERT: what a head makes of a pretrained encoder's features, and of a random one's.

Replace each `...` and each `raise` by your own code. The task is in README.md.
"""

import torch
from torch import nn
from transformers import AutoModel

from encoder import batches, labels, load, pooled
from image_loop import loss_fn
from text import intents, train, val

# TODO 1: the pretrained encoder, in evaluation mode.
pretrained = ...

# TODO 2: an encoder of the same configuration with random weights: built right after
# torch.manual_seed(42), then put into evaluation mode.
random = ...

# TODO 3: print the class of `random`, how many parameters it has, and whether its word embeddings
# equal those of `pretrained`.


def features(model, df):
    """Encode the queries of a frame, without gradients.

    Args:
        model: an encoder in evaluation mode; not always one of the two above.
        df: a frame with the columns `text` and `category`, n rows.

    Returns:
        A tensor `[n, hidden]`: for each query, in the frame's order, the mean of the last hidden
        states over its real tokens (cut at 64 ids, special tokens counted, padding not).
    """
    raise NotImplementedError("TODO 4: features is not yet written")


def fit(F, Y, G, Z):
    """Train a linear head by the recipe in README.md and measure it.

    Args:
        F: training features `[n, hidden]`.
        Y: training labels `[n]`, whole numbers.
        G: validation features `[k, hidden]`.
        Z: validation labels `[k]`.

    Returns:
        A list of two accuracies, fractions between 0 and 1: on F and Y, then on G and Z. Numbers,
        or text with four decimals.
    """
    raise NotImplementedError("TODO 5: fit is not yet written")


# TODO 6: the random encoder's features of `train` `[n, hidden]` and of `val` `[k, hidden]`.
F = ...
G = ...

# TODO 7: print a line for each of the two encoders: training accuracy, validation accuracy, and the
# mean cosine over every pair of training queries.
