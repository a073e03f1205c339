"""Pieces: what WordPiece makes of every word of the training queries."""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [w for w in vocab if vocab[w] > 1]
pieces = {w: tokenizer.tokenize(w) for w in words}
whole = sum(1 for w in words if len(pieces[w]) == 1)

print(len(words), whole, len(words) - whole)
for w in sorted(words, key=lambda w: -len(pieces[w]))[:5]:
    print(w, pieces[w])


def count(texts):
    a = b = 0
    for t in texts:
        a += len(tokenize(t))
        b += len(tokenizer.tokenize(t))
    return a, b


n_words, n_pieces = count(train["query"])
print(n_words, n_pieces, round(n_pieces / n_words, 3))

# rare words are cut and frequent ones are not
