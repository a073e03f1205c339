"""The two reserved entries are among your words.

`<pad>` and `<unk>` stand for padding and for whatever is unknown; nobody writes them in a query.
Compare `len(words)` with `len(vocab)`: it should be two less. Leave both out, by name or because
their ids are 0 and 1.

Loses: words, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = list(vocab)
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
