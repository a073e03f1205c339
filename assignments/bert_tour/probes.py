"""What is asked of a submission to `bert_tour`: each public function is a question to its names.

Functions are asked about texts, ids and words of the grader's own, so that a mistake in one name is
not met again in the next. Sentences are made of the case's queries, so every case has others.
"""

import numpy as np
import torch

import course_bundle
import text
from encoder import labels, tokenizer

#: A word that no vocabulary has whole.
_RARE = "qzxvkj"


def count_base(m):
    """How many parameters base has."""
    return m.count_parameters("base")


def count_large(m):
    """How many parameters large has."""
    return m.count_parameters("large")


def unknown_size(m):
    """What becomes of a size that there is not."""
    return _error(m.count_parameters, "gigantic")


def cls_vector(m):
    """The longest test queries and the shortest side by side."""
    ordered = sorted(text.test["text"], key=lambda query: (_count(query), query))
    ordered = [query for query in ordered if _count(query) <= 64]
    queries = [query for pair in zip(ordered[-6:], ordered[:6], strict=True) for query in pair]
    return _rows(m.cls_vector(queries), "cls_vector(texts)")


def cls_vector_long(m):
    """A text of far more than 64 ids among short ones."""
    queries = list(text.val["text"])
    texts = [queries[0], " ".join(queries[1:31]), "why?"]
    return _rows(m.cls_vector(texts), "cls_vector(texts)")


def cls_vector_many(m):
    """More texts than a batch holds, kept short: every fifth row, and the last two."""
    queries = list(text.train["text"])
    texts = [queries[i % len(queries)].split() for i in range(139)]
    found = _rows(
        m.cls_vector([" ".join(words[: 1 + i % 5]) for i, words in enumerate(texts)]),
        "cls_vector(texts)",
    )
    return {"shape": found["shape"], "rows": found["rows"][::5], "last": found["rows"][-2:]}


def input_embedding(m):
    """Three rows of 17 ids, in segments that take turns anyhow."""
    return _embedded(m, 3, 17)


def input_embedding_long(m):
    """A row of all 512 positions: every 37th, and the last."""
    found = _embedded(m, 1, 512)
    if found.shape[1:2] != (512,):
        return found
    return found[:, [*range(0, 512, 37), 511]]


def word_vector(m):
    """Words of sentences of whole words alone: the first one, the last, and some between."""
    return _asked(m, [(" ".join(words), words[i]) for words, i in _some((0, -1, 1, 3, 2, 4))])


def word_vector_later(m):
    """Words behind marks and behind a word that is cut into pieces."""
    asked = [(f"{_RARE}, well-{' '.join(words)}!", words[i]) for words, i in _some((0, 2, -1), 6)]
    return _asked(m, asked)


def word_vector_inside(m):
    """Words behind a longer word that holds them, itself one piece."""
    known = sorted(piece for piece in tokenizer.get_vocab() if piece.isalpha())
    asked = []
    for words, _ in _some((0,) * 12, 9):
        for word in words:
            longer = [piece for piece in known if word in piece and piece != word]
            longer = [piece for piece in longer if piece not in words]
            if len(word) > 2 and longer:
                asked.append((" ".join([longer[len(longer) // 2], *words]), word))
                break
    return _asked(m, asked[:4])


def word_vector_twice(m):
    """Words that stand in their sentence twice."""
    asked = [
        (" ".join([*words, "and", *reversed(words)]), words[i]) for words, i in _some((1, 3, 4), 12)
    ]
    return _asked(m, asked)


def word_vector_case(m):
    """Words with capital letters where the sentence has small ones, and the other way round."""
    (first, i), (second, j), (third, k) = _some((2, 3, 1), 15)
    return _asked(
        m,
        [
            (" ".join(first), first[i].upper()),
            (" ".join(second).title(), second[j]),
            (" ".join(third).upper(), third[k].capitalize()),
        ],
    )


def word_vector_long(m):
    """Two words at the beginning of a text of far more than 64 ids."""
    words = _whole(" ".join(list(text.val["text"])[30:36]))
    sentence = " ".join(words * 4)
    return _asked(m, [(sentence, words[3]), (sentence, words[9])])


def word_absent(m):
    """What becomes of a word that does not stand in the sentence."""
    (words, _), (others, _) = _some((0, 0), 18)
    absent = [word for word in _whole(" ".join(text.val["text"])) if word not in words]
    absent = [word for word in [*others, *absent] if len(word) > 3 and word not in " ".join(words)]
    return _error(m.word_vector, " ".join(words), absent[0])


def word_in_pieces(m):
    """What becomes of a word that stands there in several pieces."""
    ((words, _),) = _some((0,), 20)
    return _error(m.word_vector, " ".join([*words[:3], _RARE, *words[3:]]), _RARE)


def cosines(m):
    """The printed cosines unrounded, where the solution keeps them; nobody else need have them."""
    try:
        return [float(m.contextual), float(m.static)]
    except Exception:  # noqa: BLE001 - a submission may use the names for anything, or not at all
        return None


def _whole(sentence):
    """The words of a sentence that are one piece, each once, in their order."""
    pieces = tokenizer.tokenize(sentence)
    following = [*pieces[1:], ""]
    return list(
        dict.fromkeys(
            piece
            for piece, after in zip(pieces, following, strict=True)
            if piece.isalpha() and not after.startswith("##")
        )
    )


def _some(places, start=0):
    """For each place the words of a sentence that are whole, from validation queries, with it."""
    queries = list(text.val["text"])
    pairs = [
        " ".join(queries[i % len(queries)] for i in (start + j, start + j + 1))
        for j in range(len(places))
    ]
    return [(_whole(pair)[:9], place) for pair, place in zip(pairs, places, strict=True)]


def _asked(m, pairs):
    """The vector of each word in its sentence, by number and word."""
    return {
        f"{i} {word}": _tensor(m.word_vector(sentence, word), "word_vector(sentence, word)")
        for i, (sentence, word) in enumerate(pairs)
    }


def _error(function, *given):
    """How a call ends that should be refused, with whether its message names what was given last.

    Not the message itself, since everybody has another.
    """
    try:
        found = function(*given)
    except NotImplementedError:
        raise
    except Exception as problem:  # noqa: BLE001 - of which kind is the question
        kind = "ValueError" if isinstance(problem, ValueError) else type(problem).__name__
        return {"raised": kind[:60], "named": given[-1].lower() in str(problem).lower()}
    return {"returned": type(found).__name__[:60]}


def _count(query):
    """How many ids a query has, not cut."""
    return len(tokenizer(query)["input_ids"])


def _embedded(m, rows, length):
    """What `input_embedding` gives for ids and segments that depend on the case."""
    generator = torch.Generator().manual_seed(int(labels(text.train).sum()))
    entries = course_bundle.config()["vocab_size"]
    ids = torch.randint(0, entries, (rows, length), generator=generator)
    segments = torch.randint(0, 2, (rows, length), generator=generator)
    return _tensor(m.input_embedding(ids, segments), "input_embedding(ids, segments)")


def _rows(value, what):
    """The shape of a matrix and its rows."""
    found = _tensor(value, what)
    if found.dim() == 0:
        raise TypeError(f"{what} should give rows [n, hidden], it gives a number")
    return {"shape": list(found.shape), "rows": found}


def _tensor(value, what):
    """A tensor, an array or lists of either or of numbers, as a plain tensor."""
    try:
        return _plain(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{what} should give a tensor, it gives {value!r:.60}") from None


def _plain(value):
    if isinstance(value, list | tuple) and value:
        if all(isinstance(item, int | float) for item in value):
            return torch.tensor(value)
        return torch.stack([_plain(item) for item in value])
    if isinstance(value, np.ndarray | np.generic):
        return torch.as_tensor(value)
    if not isinstance(value, torch.Tensor):
        raise TypeError
    return value.detach()
