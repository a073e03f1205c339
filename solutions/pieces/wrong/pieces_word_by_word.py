"""You added up the pieces of single words; asked for are those of each query as it stands.

The two sums differ a little, as the tokenizer finds words by rules of its own: it does not part `£`
from the amount behind it, the lesson's `tokenize` does. Give it whole queries and add up
`len(tokenizer.tokenize(text))`.

Loses: counts, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(pieces[word]) for text in train["text"] for word in tokenize(text))

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
