"""The five words that you print are the longest, in letters, not those of the most pieces.

A long word that is frequent is one piece all the same, and a short one that is rare may be four.
Sort by `len(pieces[word])`, not by `len(word)`.

Loses: lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = list(vocab)[2:]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = len([word for word in words if len(pieces[word]) == 1])
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
longest = sorted(words, key=len, reverse=True)[:5]
print("; ".join(f"{word}: {' '.join(pieces[word])}" for word in longest))
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
