"""Other counts: `whole` by the tokenizer's own vocabulary, pieces by ids less two a query."""

from itertools import chain

from encoder import tokenizer
from text import tokenize, train, vocab

words = [*vocab]
words.remove("<pad>")
words.remove("<unk>")
pieces = {word: tokenizer.tokenize(word) for word in words}
known = tokenizer.get_vocab()
whole = len(words) - len([word for word in words if word not in known])
n_words = sum(1 for _ in chain.from_iterable(map(tokenize, train["text"])))
n_pieces = sum(len(tokenizer(text)["input_ids"]) - 2 for text in train["text"])

print("words", len(words), "whole", whole, "cut", len(words) - whole)
remaining = dict(pieces)
top = []
while len(top) < 5:
    word = max(remaining, key=lambda one: len(remaining[one]))
    top.append((word, remaining.pop(word)))
print("most pieces:", top)
print("n_words", n_words, "n_pieces", n_pieces, "ratio", f"{n_pieces / n_words:.3f}")
