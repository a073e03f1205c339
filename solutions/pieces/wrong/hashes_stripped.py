"""You took the `##` off the pieces.

It belongs to a piece's name: `##able`, which goes on from what stands before it, and `able`, which
begins a word, are two entries of the vocabulary with ids of their own. Keep the pieces as
`tokenizer.tokenize` spells them.

Loses: pieces, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: [piece.removeprefix("##") for piece in tokenizer.tokenize(word)] for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
