"""Contract: what an encoder makes of ids that its tokenizer never gave, and how to tell them.

Replace each `...` and each `raise` by your own code. The task is in README.md.
"""

import torch
from torch import nn

from encoder import labels, load, pooled, tokenizer
from image_loop import loss_fn
from text import intents, val, val_set


def from_tokenizer(ids, mask):
    """Whether every row of a batch keeps the contract in README.md. Raises for none.

    Args:
        ids: whole numbers `[rows, columns]`; there may be no row, or no column.
        mask: of the same shape, 1 where an id is real and 0 where it is padding.

    Returns:
        True or False, one for the whole batch.
    """
    raise NotImplementedError("TODO 1: from_tokenizer is not yet written")


# TODO 2: the head `[hidden -> classes]` that the recipe trains on F and Y of bert_features.pt.
head = ...


def confidence(head, ids, mask, y):
    """How often a head is right about the queries of a batch, and how sure it is.

    Args:
        head: an `nn.Linear` from hidden to classes; not always the one above.
        ids: whole numbers `[rows, columns]`, each in the encoder's table.
        mask: of the same shape, 1 where an id is real and 0 where it is padding.
        y: labels `[rows]`.

    Returns:
        A list of two numbers between 0 and 1: the fraction of rows whose most probable class is
        their label, and the mean over the rows of the largest class probability.
    """
    raise NotImplementedError("TODO 3: confidence is not yet written")


# TODO 4: "right" and "wrong" -> what `confidence` gives for `head` and the validation queries: by
# the tokenizer's ids, and by the word ids of `val_set`, whose padding is 0.
results = ...

# TODO 5: print a line for the right ids and one for the wrong: accuracy, mean top probability, and
# what `from_tokenizer` says of them.

# TODO 6: say here which rules the word ids broke, and which ids of another vocabulary would not.
