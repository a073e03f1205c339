"""Arrays and frames: `words` a pandas Index, `pieces` a Series, the counts numpy integers."""

import numpy as np
import pandas as pd

from encoder import tokenizer
from text import tokenize, train, vocab

ids = pd.Series(vocab)
words = ids[ids > 1].index
pieces = pd.Series([tokenizer.tokenize(word) for word in words], index=words)
sizes = pieces.map(len)
whole = (sizes == 1).sum()

n_words = train["text"].map(tokenize).map(len).sum()
n_pieces = np.sum([len(tokenizer.tokenize(text)) for text in train["text"].to_numpy()])

print(np.array([len(words), whole, (sizes > 1).sum()]))
print(pieces[sizes.sort_values(ascending=False, kind="stable").index[:5]].to_dict())
print((n_words, n_pieces, np.float64(n_pieces / n_words).round(3)))
