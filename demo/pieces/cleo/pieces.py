"""Cleo: pieces of words"""

import numpy as np
from encoder import tokenizer
from text import tokenize, train, vocab

words = set(vocab).difference(["<pad>", "<unk>"])
pieces = {w: tokenizer.tokenize(w) for w in words}
lengths = np.array([len(p) for p in pieces.values()])
whole = int(np.count_nonzero(lengths == 1))

texts = list(train["text"])
encoded = tokenizer(texts)
n_words = np.sum([len(tokenize(t)) for t in texts])
n_pieces = np.sum([len(ids) for ids in encoded["input_ids"]])

print(len(words), whole, (lengths > 1).sum())
order = np.argsort(-lengths, kind="stable")[:5]
names = list(pieces)
print([(names[i], pieces[names[i]]) for i in order])
print(n_words, n_pieces, np.round(n_pieces / n_words, 3))

# A piece more or less for each word with an ending, and most words have none.
