"""Loops and functions, the names at top level, and every print behind a `__main__` guard."""

import text
from encoder import tokenizer

RESERVED = ("<pad>", "<unk>")
HOW_MANY = 5


def cut(word):
    """The pieces of one word."""
    return tokenizer.tokenize(word)


def count(texts, into):
    """How many parts all texts have, cut by `into`."""
    total = 0
    for one in texts:
        total += len(into(one))
    return total


words = set()
pieces = {}
whole = 0
for word in text.vocab:
    if word in RESERVED:
        continue
    words.add(word)
    pieces[word] = cut(word)
    if len(pieces[word]) == 1:
        whole += 1

n_words = count(text.train.text, text.tokenize)
n_pieces = count(text.train.text, cut)


def main():
    print(f"{len(words)} words: {whole} whole, {len(words) - whole} cut")
    by_pieces = sorted(((len(parts), word) for word, parts in pieces.items()), reverse=True)
    print("cut most -", " / ".join(f"{w} = {'+'.join(pieces[w])}" for _, w in by_pieces[:HOW_MANY]))
    print(f"{n_words} words, {n_pieces} pieces: {n_pieces / n_words:.3f} pieces a word")


if __name__ == "__main__":
    main()
