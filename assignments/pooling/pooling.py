"""Pooling: one vector for a query, whatever it is padded with.

Replace each `raise` by your own code. The task is in README.md.
"""

import torch

from encoder import load, tokenizer
from text import val


def mean_pool(hidden, mask):
    """The mean of states over the real tokens.

    Args:
        hidden: states `[n, ids, hidden]`.
        mask: `[n, ids]`, whole numbers, booleans or floating point: 1 for a real token, 0 for
            padding, which may stand anywhere. Every row has a real token.

    Returns:
        A tensor `[n, hidden]`.
    """
    raise NotImplementedError("TODO 1: mean_pool is not yet written")


def encode_queries(texts):
    """Encode texts, without gradients, by the encoder that `load()` gives.

    Args:
        texts: a list of n texts, each cut at 64 ids.

    Returns:
        A tensor `[n, hidden]`: for each text, in their order, the mean of its last states over its
        real tokens. The same for a text alone and for one in a padded batch.
    """
    raise NotImplementedError("TODO 2: encode_queries is not yet written")


def unmasked_move(texts):
    """How far real tokens move when the encoder gets no attention mask.

    Args:
        texts: a list of texts, put into one batch that is padded to the longest of them.

    Returns:
        A number: the largest absolute difference between the last states of the real tokens with
        the attention mask and those without.
    """
    raise NotImplementedError("TODO 3: unmasked_move is not yet written")


def pooler(texts):
    """The encoder's `pooler_output`, rebuilt from the weights of its pooler.

    Args:
        texts: a list of n texts, each cut at 64 ids.

    Returns:
        A tensor `[n, hidden]`, a row for each text in their order.
    """
    raise NotImplementedError("TODO 4: pooler is not yet written")


#: What the printed lines are about.
queries = list(val["text"])[:12]

# TODO 5: print whether each of the queries, encoded alone, equals its row of
# encode_queries(queries) within 1e-5.

# TODO 6: print unmasked_move(queries), to four decimals.

# TODO 7: print whether pooler(queries) equals the encoder's own pooler_output within 1e-5.
