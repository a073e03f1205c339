"""Block: a BERT layer rebuilt from its own weights, and the whole encoder from its layers.

Replace each `raise` by your own code. The task is in README.md.
"""

import torch

from attention import attention
from encoder import batches, load
from text import val


def heads(x, count):
    """Split states into heads.

    Args:
        x: states `[n, ids, hidden]`.
        count: how many heads; hidden is a multiple of it.

    Returns:
        A tensor `[n, count, ids, width]` with width = hidden / count: head 0 has the first width
        entries of each state, head 1 the next ones, and so on.
    """
    raise NotImplementedError("TODO 1: heads is not yet written")


def mix(layer, h, mask=None):
    """Self-attention of all heads, with the output's dense map, without residual and norm.

    Args:
        layer: a layer of a BERT encoder.
        h: states `[n, ids, hidden]`.
        mask: `[n, ids]`, 1 for a real token and 0 for padding; None if all are real.

    Returns:
        A tensor `[n, ids, hidden]`.
    """
    raise NotImplementedError("TODO 2: mix is not yet written")


def ffn(layer, h):
    """The feed-forward part: two dense maps and the activation between, without residual and norm.

    Args:
        layer: a layer of a BERT encoder.
        h: states `[n, ids, hidden]`.

    Returns:
        A tensor `[n, ids, hidden]`.
    """
    raise NotImplementedError("TODO 3: ffn is not yet written")


def post_norm(layer, h, mask=None):
    """A layer as BERT has it: a norm after each of the two residuals.

    Args:
        layer: a layer of a BERT encoder.
        h: states `[n, ids, hidden]`.
        mask: `[n, ids]`, 1 for a real token and 0 for padding; None if all are real.

    Returns:
        A tensor `[n, ids, hidden]`.
    """
    raise NotImplementedError("TODO 4: post_norm is not yet written")


def pre_norm(layer, h, mask=None):
    """The same weights with each norm before its part, and none at the end.

    Args:
        layer: a layer of a BERT encoder.
        h: states `[n, ids, hidden]`.
        mask: `[n, ids]`, 1 for a real token and 0 for padding; None if all are real.

    Returns:
        A tensor `[n, ids, hidden]`.
    """
    raise NotImplementedError("TODO 5: pre_norm is not yet written")


def encode(model, batch):
    """The last hidden states of a batch: the embeddings, then every layer by `post_norm`.

    Args:
        model: a BERT encoder in evaluation mode; not always the pretrained one.
        batch: `input_ids`, `token_type_ids` and `attention_mask`, each `[n, ids]`.

    Returns:
        A tensor `[n, ids, hidden]`.
    """
    raise NotImplementedError("TODO 6: encode is not yet written")


# TODO 7: take the first batch of 32 validation queries, the pretrained encoder and its hidden
# states for the batch. Print three lines, each with the largest absolute difference over the real
# tokens and whether it is at most 1e-5: `post_norm` of the first layer, `pre_norm` of the first
# layer, `encode`.
