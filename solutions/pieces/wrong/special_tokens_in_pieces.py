"""Your lists of pieces begin with [CLS] and end with [SEP].

These two mark where a whole query begins and ends, so calling the tokenizer adds them, even to a
single word; then no word at all seems to stay one piece. Look at `pieces["card"]`, and take
`tokenizer.tokenize(word)`, or ask for `add_special_tokens=False`.

Loses: pieces, lines
"""

from encoder import tokenizer
from text import tokenize, train, vocab

words = [word for word in vocab if word not in ("<pad>", "<unk>")]
pieces = {word: tokenizer.convert_ids_to_tokens(tokenizer(word)["input_ids"]) for word in words}
whole = sum(len(cut) == 1 for cut in pieces.values())
n_words = sum(len(tokenize(text)) for text in train["text"])
n_pieces = sum(len(tokenizer.tokenize(text)) for text in train["text"])

print(len(words), whole, len(words) - whole)
for word in sorted(words, key=lambda word: len(pieces[word]), reverse=True)[:5]:
    print(word, *pieces[word])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
