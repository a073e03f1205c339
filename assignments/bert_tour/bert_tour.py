"""A tour of BERT: its size, [CLS], what goes into its first layer, and a word in its sentence.

Replace each `...` and each `raise` by your own code. The task is in README.md.
"""

import torch
from transformers import BertConfig, BertModel

from encoder import load, tokenizer
from text import train

model = load()


def count_parameters(size):
    """Count the parameters of a published BERT, the pooler included, without pretraining heads.

    Args:
        size: "tiny", "mini", "small", "medium", "base" or "large"; see the table in README.md.

    Returns:
        How many numbers all its parameters hold, a whole number.

    Raises:
        ValueError: there is no such size; the message names it.
    """
    raise NotImplementedError("TODO 1: count_parameters is not yet written")


def cls_vector(texts):
    """Encode texts, padded and cut at 64 ids.

    Args:
        texts: a list of n texts.

    Returns:
        A tensor `[n, hidden]`: the last layer's state of [CLS] of each text, in their order.
    """
    raise NotImplementedError("TODO 2: cls_vector is not yet written")


def input_embedding(ids, segments):
    """Build what goes into the encoder's first layer from its tables.

    Args:
        ids: whole numbers `[n, k]`, entries of the vocabulary; k is at most 512.
        segments: whole numbers `[n, k]`, each 0 or 1.

    Returns:
        A tensor `[n, k, hidden]`: the sum of the rows of token, position and segment, normalized.
    """
    raise NotImplementedError("TODO 3: input_embedding is not yet written")


def word_vector(sentence, word):
    """Encode a sentence and take the state of one word in it.

    Args:
        sentence: a text, cut at 64 ids.
        word: a word, in small or capital letters.

    Returns:
        A tensor `[hidden]`: the last layer's state where the word stands for the first time.

    Raises:
        ValueError: the word does not stand there, or not as one piece; the message names it.
    """
    raise NotImplementedError("TODO 4: word_vector is not yet written")


# TODO 5: print the numbers of parameters of "base" and of "large".

# TODO 6: find the first two training queries that hold the word "the". Print the cosine of its
# vectors in the two, and that of its two static embeddings.
