"""You counted different words, where every word that is written counts.

A word that stands in a hundred queries is a hundred words of the queries, as its pieces are counted
a hundred times too. `n_words` should be many times `len(words)`; add up `len(tokenize(text))` over
the training queries without making a set of the words first.

Loses: counts, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = len({word for text in train["text"] for word in tokenize(text)})
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
