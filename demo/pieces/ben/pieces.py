"""Pieces: what WordPiece makes of every word of the training queries."""

from encoder import tokenizer
from text import tokenize, train, vocab

# TODO 1
words = []
for word in vocab:
    if not word.startswith("<"):
        words.append(word)

# TODO 2
pieces = {}
for word in words:
    pieces[word] = tokenizer.tokenize(word)

# TODO 3
whole = 0
for word in words:
    if len(pieces[word]) == 1:
        whole = whole + 1

# TODO 4
all_words = []
for t in train["text"]:
    for word in tokenize(t):
        if word not in all_words:
            all_words.append(word)
n_words = len(all_words)
n_pieces = ...  # how do I get the pieces of a whole query?

# TODO 5
print(len(words), whole, len(words) - whole)
ordered = sorted(words, key=lambda w: len(pieces[w]), reverse=True)
for word in ordered[:5]:
    print(word, pieces[word])
# the third line when n_pieces works

# TODO 6: because most words are not cut
