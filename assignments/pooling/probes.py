"""What is asked of a submission to `pooling`: each public function is a question to its names.

Functions are asked about states, masks and texts of the questions' own, so that a mistake in one
name is not met again in the next.
"""

from unittest import mock

import numpy as np
import torch
from transformers import AutoConfig, AutoModel

import course_bundle
import text
from encoder import labels

#: How many queries the printed lines are about.
_QUERIES = 12
#: So many queries in a row have far more than 64 ids.
_LONG = 14


def mean_after(m):
    """Rows of different lengths, their padding after them."""
    ids = 11
    lengths = torch.tensor([7, 11, 3, 2, 9])
    return _means(m, torch.arange(ids) < lengths[:, None])


def mean_anywhere(m):
    """Rows with padding before them, between their tokens, and on both sides."""
    return _means(m, _rows("000011111", "111001101", "001111100", "010101011"))


def mean_single(m):
    """Rows of one real token: the first, the last, one in the middle."""
    return _means(m, _rows("100000", "000001", "001000"))


def mean_one_row(m):
    """A batch of one row."""
    return _means(m, _rows("11111000"))


def mean_boolean(m):
    """A mask of booleans."""
    return _means(m, _rows("1110000", "1111111", "1111100"), torch.bool)


def mean_floating(m):
    """A mask of floating point."""
    return _means(m, _rows("1111110", "1100000", "1111000"), torch.float32)


def encode_one(m):
    """One text alone."""
    return _matrix(m.encode_queries([text.train["text"].iloc[1]]), "encode_queries")


def encode_beside(m):
    """The longest queries and the shortest, side by side."""
    return _matrix(m.encode_queries(_mixed(6)), "encode_queries")


def encode_many(m):
    """More texts than a batch holds, kept short: some of the rows, those at the end too."""
    found = _matrix(m.encode_queries(_short(139)), "encode_queries")
    return {"shape": list(found.shape), "rows": found[::6], "last": found[-3:]}


def encode_long(m):
    """A text of far more than 64 ids between short ones."""
    return _matrix(m.encode_queries(_long()), "encode_queries")


def moves(m):
    """The move of texts of which most are padded, some a good deal and some a little.

    Where little is padded it is not always `[CLS]` that moves furthest, nor always upwards.
    """
    queries = _by_length()
    batches = {
        "short and long queries": _mixed(4),
        "many short, a longer one last": [*_short(37), queries[3 * len(queries) // 4]],
        "a long text and a word": [_long()[1], "why?"],
    }
    half = len(queries) // 2
    for k in (7, 9, 20, 22):
        batches[f"two queries, {k} apart from the middle"] = [queries[half + k], queries[half - k]]
    return {name: _number(m.unmasked_move(texts)) for name, texts in batches.items()}


def still(m):
    """The move of texts without padding."""
    query = text.train["text"].iloc[4]
    batches = {"one query": [query], "three alike": [query] * 3}
    return {name: _number(m.unmasked_move(texts)) for name, texts in batches.items()}


def pooled(m):
    """Short texts, more than a batch holds."""
    return _matrix(m.pooler(_short(35)), "pooler")


def pooled_by_weights(m):
    """Texts of all lengths, with the encoder's own pooler switched off."""
    with mock.patch.object(_pooler(), "forward", _nothing):
        return _matrix(m.pooler([*_mixed(2), *_long()]), "pooler")


def queries_together(m):
    """What the lines are about: the queries in one list."""
    return _matrix(m.encode_queries(_queries()), "encode_queries")


def queries_alone(m):
    """The same, each in a list of its own."""
    rows = [_tensor(m.encode_queries([query]), "encode_queries") for query in _queries()]
    return torch.stack([row.reshape(-1) for row in rows])


def queries_moved(m):
    """The move of these queries."""
    return _number(m.unmasked_move(_queries()))


def queries_pooled(m):
    """What the pooler gives for these queries."""
    return _matrix(m.pooler(_queries()), "pooler")


def _generator():
    """Draws that depend on the case's rows, so that what is right in one case is not in another."""
    return torch.Generator().manual_seed(int(labels(text.train).sum()))


def _rows(*rows):
    """A mask, written out."""
    return torch.tensor([[mark == "1" for mark in row] for row in rows])


def _means(m, mask, dtype=torch.int64):
    """What `mean_pool` gives for this mask and drawn states of the encoder's width."""
    states = torch.randn(*mask.shape, course_bundle.config()["hidden_size"], generator=_generator())
    return _matrix(m.mean_pool(states, mask.to(dtype)), "mean_pool")


def _queries():
    return list(text.val["text"])[:_QUERIES]


def _by_length():
    """The training queries, the shortest first."""
    return sorted(text.train["text"], key=lambda query: (len(query), query))


def _mixed(count):
    """The longest training queries and the shortest, in turn."""
    ordered = _by_length()
    return [q for pair in zip(ordered[-count:], ordered[:count], strict=True) for q in pair]


def _short(count):
    """Beginnings of queries, one word to five, from the first query again when they run out."""
    queries = list(text.train["text"])
    return [" ".join(queries[i % len(queries)].split()[: 1 + i % 5]) for i in range(count)]


def _long():
    """A short text, one of far more than 64 ids, and a query."""
    queries = list(text.train["text"])
    return ["why?", " ".join(queries[:_LONG]), queries[0]]


def _pooler():
    """The class of the encoder's own pooler."""
    with torch.device("meta"):
        model = AutoModel.from_config(AutoConfig.from_pretrained(course_bundle.encoder))
    return type(model.pooler)


def _nothing(_, states):
    """What a pooler gives that is switched off."""
    return torch.zeros_like(states[:, 0])


def _tensor(value, what):
    """A tensor, an array or a list of rows as a plain tensor."""
    if isinstance(value, list | tuple) and value:
        value = torch.stack([torch.as_tensor(row) for row in value])
    if isinstance(value, np.ndarray):
        value = torch.as_tensor(value)
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"`{what}` should give a tensor [n, hidden], it gives {value!r:.60}")
    return value.detach()


def _matrix(value, what):
    """A value as a plain matrix."""
    found = _tensor(value, what)
    if found.dim() != 2:
        raise TypeError(f"`{what}` should give [n, hidden], it gives shape {list(found.shape)}")
    return found


def _number(value):
    """A number, whether a tensor or an array holds it or not."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
