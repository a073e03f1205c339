"""WordPiece by hand: the longest piece that fits, then the next, until the word is used up."""

from encoder import tokenizer
from text import tokenize, train, vocab

known = set(tokenizer.get_vocab())


def cut(word):
    found = []
    start, end = 0, len(word)
    while start < len(word):
        piece = ("##" if start else "") + word[start:end]
        if piece in known:
            found.append(piece)
            start = end
        else:
            end -= 1
    return found


words = [w for w in vocab if w not in ("<pad>", "<unk>")]
pieces = {w: cut(w) for w in words}
whole = sum(len(p) == 1 for p in pieces.values())
n_words = sum(len(tokenize(t)) for t in train["text"])
n_pieces = sum(len(cut(w)) for t in train["text"] for w in tokenize(t))

print(len(words), whole, len(words) - whole)
print([(w, pieces[w]) for w in sorted(words, key=lambda w: -len(pieces[w]))[:5]])
print(n_words, n_pieces, f"{n_pieces / n_words:.3f}")
