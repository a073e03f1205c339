"""Pieces: what WordPiece makes of every word of the training queries.

Replace each `...` by your own code. The task is in README.md.
"""

from encoder import tokenizer
from text import tokenize, train, vocab

# TODO 1: the words of the vocabulary, without its two reserved entries.
words = ...

# TODO 2: word -> the list of its pieces, as the tokenizer spells them.
pieces = ...

# TODO 3: how many of the words stay one piece (a whole number).
whole = ...

# TODO 4: how many words, and how many pieces, the training queries have together (whole numbers).
# Words are what `tokenize` gives, pieces what the tokenizer makes of each query as it stands;
# special tokens are no pieces of a query.
n_words = ...
n_pieces = ...

# TODO 5: print the three lines that README.md describes.

# TODO 6: say here why the pieces outnumber the words by so little.
