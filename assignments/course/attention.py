"""Scaled dot-product attention, as the lesson on attention hands it out."""

import math

import torch


def attention(q, k, v, mask=None):
    """Attend over the last two axes.

    Args:
        q: queries `[..., queries, width]`.
        k: keys `[..., keys, width]`.
        v: values `[..., keys, out]`.
        mask: True (or 1) where a key may be seen, broadcast to `[..., queries, keys]`.

    Returns:
        The outputs `[..., queries, out]` and the weights `[..., queries, keys]`.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask.to(torch.bool), float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
