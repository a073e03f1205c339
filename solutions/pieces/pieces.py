"""Pieces: what WordPiece makes of every word of the training queries."""

from encoder import tokenizer
from text import tokenize, train, vocab

# BEGIN SOLUTION
reserved = {"<pad>", "<unk>"}
words = [word for word in vocab if word not in reserved]

pieces = {word: tokenizer.tokenize(word) for word in words}

whole = sum(len(cut) == 1 for cut in pieces.values())

n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
most = sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]
print("; ".join(f"{word}: {' '.join(pieces[word])}" for word in most))
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")

# The words that are cut are rare ones: most occurrences belong to words that the encoder's
# vocabulary holds whole, so the extra pieces hardly show in the sum.
# END SOLUTION
