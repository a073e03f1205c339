"""Your number of pieces counts [CLS] and [SEP] of every query.

`tokenizer(text)["input_ids"]` begins and ends with a special token, which is no piece of any word:
your sum is too large by twice the number of queries. Count `tokenizer.tokenize(text)`, or call the
tokenizer with `add_special_tokens=False`.

Loses: counts, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.tokenize(word) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer(text)["input_ids"]) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
