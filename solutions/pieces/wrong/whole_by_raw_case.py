"""You looked words up in the tokenizer's vocabulary as they are typed, capital letters included.

That vocabulary is lower case throughout: `Card` is not in it, though the tokenizer, which lowers a
text before it cuts, keeps the word whole. Go through `words`, which are lower case already, and
count those whose list of pieces has one entry.

Loses: pieces, lines
"""

import re

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
typed = {word for text in train["text"] for word in re.findall(r"[A-Za-z0-9]+|[^\w\s]", text)}
known = tokenizer.get_vocab()
whole = sum(word in known for word in typed)
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
