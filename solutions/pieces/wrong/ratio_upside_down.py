"""Your ratio is words a piece, below one; asked for are pieces a word.

There are more pieces than words, so it must be above one: divide `n_pieces` by `n_words`.

Loses: lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_words / n_pieces:.3f}")
