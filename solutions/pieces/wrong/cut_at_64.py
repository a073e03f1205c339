"""Your number of pieces leaves off what stands past the 64th id of a query.

`batches` cuts long queries for the encoder's sake; here every piece counts. Compare the sum for the
longest query with `len(tokenizer.tokenize(text))`, and count with that, without truncation.

Loses: counts, lines
"""

from encoder import batches, tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
ids = sum(int(batch["attention_mask"].sum()) for batch, _ in batches(train, 64))
n_pieces = ids - 2 * len(train)

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
