"""Where the pretraining starts: examples in, word vectors from co-occurrence counts out.

From random vectors, a model this small spends most of a short run on finding out which words are
alike. Counting tells that in seconds (Levy and Goldberg 2014, "Neural Word Embedding as Implicit
Matrix Factorization").
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from transformers import BertForPreTraining

from grader.tiny.corpus import IGNORED, SPECIAL, Example

#: Words up to this far apart occur together: about a query and its answer.
WINDOW = 30
#: Spread of a word's numbers and of a place's, and the length of text that places are centred on.
WORD_SPREAD, PLACE_SPREAD, TYPICAL = 0.05, 0.02, 40


def warm_start(model: BertForPreTraining, examples: list[Example]) -> None:
    """Set the embeddings of words and positions, and the bias of the words' logits."""
    related = [each for each in examples if each.apart in (0, IGNORED)]
    table = model.bert.embeddings.word_embeddings.weight
    vectors, counts = word_vectors(related, *table.shape)
    places = model.bert.embeddings.position_embeddings.weight
    known = vectors.norm(dim=1) > 0
    with torch.no_grad():
        table[known] = vectors[known]
        places.copy_(place_codes(*places.shape))
        shares = (counts + 1) / (counts + 1).sum()
        model.cls.predictions.bias.copy_(shares.log() - shares.log().mean())


def word_vectors(examples: list[Example], size: int, width: int) -> tuple[Tensor, Tensor]:
    """Factorize the positive pointwise mutual information of words near each other.

    Args:
        examples: Texts that belong together.
        size: Entries of the vocabulary.
        width: Numbers in a vector; at most the vocabulary's size.

    Returns:
        Vectors `[size, width]`, zero for special and unseen ids, and counts `[size]`.
    """
    ids = torch.tensor([token for each in examples for token in each.ids])
    owner = torch.repeat_interleave(torch.tensor([len(each.ids) for each in examples]))
    together = torch.zeros(size * size)
    for apart in range(1, WINDOW + 1):
        same = owner[apart:] == owner[:-apart]
        keys = ids[apart:][same] * size + ids[:-apart][same]
        together += torch.bincount(keys, minlength=size * size)
    together = together.view(size, size) + together.view(size, size).T
    together[: len(SPECIAL)] = together[:, : len(SPECIAL)] = 0
    totals = together.sum(1)
    contexts = totals**0.75  # rare contexts count for less, as in word2vec
    chance = totals[:, None] * contexts[None] / contexts.sum()
    information = (together / chance.clamp(min=1e-9)).clamp(min=1).log()
    left, _, _ = torch.svd_lowrank(information, q=width, niter=3)
    known = totals > 0
    vectors = (left - left[known].mean(0)) * known[:, None]
    scale = WORD_SPREAD * math.sqrt(width) / vectors[known].norm(dim=1).mean()
    return vectors * scale, torch.bincount(ids, minlength=size).float()


def place_codes(places: int, width: int) -> Tensor:
    """Return sinusoids for the places of words, `[places, width]`.

    Slow waves are almost the same number in every place of a short text, which would be one large
    vector common to all texts: they are centred. And a place must not drown the word in it.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(places)[:, None] * rates  # [places, width / 2]
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).view(places, width)
    return (waves - waves[:TYPICAL].mean(0)) * PLACE_SPREAD
