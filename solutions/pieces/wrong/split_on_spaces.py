"""You split the queries at spaces, so that marks stick to their words.

`text.split()` counts `card?` as one word, and `it's` too; the lesson's `tokenize` makes two and
three of them, as the encoder's tokenizer does. Count `len(tokenize(text))`, or the pieces seem to
outnumber the words by far more than they do.

Loses: counts, lines
"""

from encoder import tokenizer
from text import train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(text.split()) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
