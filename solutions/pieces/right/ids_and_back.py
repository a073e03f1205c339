"""Ids and back: the tokenizer called on lists, without special tokens, its ids made pieces."""

from encoder import tokenizer
from text import tokenize, train, vocab

words = sorted(set(vocab) - {"<pad>", "<unk>"})
rows = tokenizer(words, add_special_tokens=False)["input_ids"]
pieces = dict(zip(words, map(tokenizer.convert_ids_to_tokens, rows), strict=True))
whole = len([row for row in rows if len(row) == 1])

queries = train["text"].tolist()
n_words = sum(map(len, map(tokenize, queries)))
n_pieces = sum(map(len, tokenizer(queries, add_special_tokens=False).input_ids))

print(len(words), whole, len(words) - whole, sep=",")
longest = sorted(words, key=lambda word: (-len(pieces[word]), word))[:5]
print(*longest)
print(*(pieces[word] for word in longest))
print(n_words, n_pieces, n_pieces / n_words, sep=",")
