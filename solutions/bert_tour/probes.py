"""What is asked in hidden cases alone: the other sizes, and words that are easily mistaken."""

import torch

import text
from encoder import tokenizer

#: What no word goes on with.
_TAIL = "qzx"


def count_tiny(m):
    """How many parameters tiny has."""
    return m.count_parameters("tiny")


def count_mini(m):
    """How many parameters mini has."""
    return m.count_parameters("mini")


def count_small(m):
    """How many parameters small has."""
    return m.count_parameters("small")


def count_medium(m):
    """How many parameters medium has."""
    return m.count_parameters("medium")


def word_vector_begun(m):
    """Words behind a longer one that is cut, and whose first piece they are."""
    found = {}
    for i, words in enumerate(_sentences(4)):
        word = words[2 + i]
        sentence = " ".join([word + _TAIL, *words])
        found[f"{i} {word}"] = torch.as_tensor(m.word_vector(sentence, word)).detach()
    return found


def word_begun(m):
    """What becomes of a word that is only the first piece of a longer one."""
    (words,) = _sentences(1, start=7)
    return _error(m.word_vector, " ".join([*words[:3], words[3] + _TAIL, *words[4:]]), words[3])


def word_cut_off(m):
    """What becomes of a word that stands past the 64th id only."""
    first, *others = _sentences(30, start=9)
    words = [word for words in others for word in words if word not in first]
    return _error(m.word_vector, " ".join([*words[:80], first[2]]), first[2])


def _sentences(count, start=0):
    """The words of sentences that are whole, and the first piece of themselves with `_TAIL`."""
    queries = list(text.val["text"])
    found = []
    for i in range(start, start + count):
        pieces = tokenizer.tokenize(" ".join(queries[(i + j) % len(queries)] for j in range(3)))
        words = dict.fromkeys(piece for piece in pieces if piece.isalpha() and _begins(piece))
        found.append([word for word in words if len(word) > 2][:9])
    return found


def _begins(word):
    """Whether a word is whole, and is the first piece of itself with `_TAIL`."""
    begun = tokenizer.tokenize(word + _TAIL)
    return tokenizer.tokenize(word) == [word] and begun[0] == word and begun[1].startswith("##")


def _error(function, *given):
    """How a call ends that should be refused, and whether its message names what was given."""
    try:
        found = function(*given)
    except NotImplementedError:
        raise
    except Exception as problem:  # noqa: BLE001 - of which kind is the question
        kind = "ValueError" if isinstance(problem, ValueError) else type(problem).__name__
        return {"raised": kind[:60], "named": given[-1].lower() in str(problem).lower()}
    return {"returned": type(found).__name__[:60]}
