"""Words as queries of one word, counts by masks in one pass, the report as JSON."""

import json
from types import MappingProxyType

from encoder import tokenizer
from text import tokenize, train, vocab


class Tally:
    """Counts what it is shown."""

    def __init__(self):
        self.words = self.pieces = 0

    def show(self, query):
        self.words += len(tokenize(query))
        encoded = tokenizer(query, return_special_tokens_mask=True, truncation=False)
        self.pieces += encoded["special_tokens_mask"].count(0)


def cut_all(words):
    """Word -> its pieces, all words handed over at once, each as a query of one word."""
    queries = [[word] for word in words]
    batch = tokenizer(queries, is_split_into_words=True, add_special_tokens=False)
    for i, word in enumerate(words):
        yield word, batch.tokens(i)


words = {word for word in vocab if word[0] != "<" or len(word) == 1}
pieces = MappingProxyType(dict(cut_all(sorted(words))))
whole = len(words) - sum("##" in "".join(cut[1:]) for cut in pieces.values())

tally = Tally()
train["text"].map(tally.show)
n_words, n_pieces = tally.words, tally.pieces

most = sorted(pieces.items(), key=lambda item: len(item[1]))[-5:]
print(json.dumps({"words": len(words), "whole": whole, "cut": len(words) - whole}))
print(json.dumps({word: list(cut) for word, cut in most}))
print(json.dumps({"n_words": n_words, "n_pieces": n_pieces, "ratio": n_pieces / n_words}))
