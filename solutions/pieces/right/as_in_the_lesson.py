"""The lesson's way, typed as compactly as it goes: a slice of the vocabulary, one line a step."""

from encoder import tokenizer
from text import tokenize, train, vocab

words = list(vocab)[2:]
pieces = {w: tokenizer.tokenize(w) for w in words}
whole = sum(len(p) == 1 for p in pieces.values())
print(len(words), whole, len(words) - whole)
print([(w, *pieces[w]) for w in sorted(words, key=lambda w: -len(pieces[w]))[:5]])

n_words = sum(len(tokenize(t)) for t in train["text"])
n_pieces = sum(len(tokenizer.tokenize(t)) for t in train["text"])
print(n_words, n_pieces, round(n_pieces / n_words, 3))
# Only rare words are cut, and rare words are few among all the words that are written.
