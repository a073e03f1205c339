"""You counted the validation queries in.

Both numbers are asked for over the training queries alone, the ones that the vocabulary comes from.
Go through `train["text"]` and leave `val` out.

Loses: counts, lines
"""

import pandas as pd

from encoder import tokenizer
from text import tokenize, train, val, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
texts = pd.concat([train, val])["text"]
n_words = sum(len(tokenize(text)) for text in texts)
n_pieces = sum(len(tokenizer.tokenize(text)) for text in texts)

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
