"""How often does the encoder's tokenizer have to cut one of our words?"""

from encoder import tokenizer
from text import tokenize, train, vocab

PAD, UNK = 0, 1


def n_of(texts, cutter):
    return sum(len(cutter(t)) for t in texts)


words = [w for w, i in vocab.items() if i not in (PAD, UNK)]
pieces = {w: tokenizer.tokenize(w) for w in words}

cut = [w for w in words if len(pieces[w]) > 1]
whole = len(words) - len(cut)

n_words = n_of(train.text, tokenize)
n_pieces = n_of(train.text, tokenizer.tokenize)

cut.sort(key=lambda w: len(pieces[w]), reverse=True)
print(f"{len(words)} words, {whole} whole, {len(cut)} cut")
print(" | ".join(f"{w} -> {' '.join(pieces[w])}" for w in cut[:5]))
print(f"{n_words} words, {n_pieces} pieces, {n_pieces / n_words:.3f} a word")

# What gets cut is what people hardly ever write: typos and long, unusual words. They are a fair
# share of the *list* of words, but nearly all words that are written are common ones, and those are
# in the tokenizer's vocabulary as they are. So the sums differ by very little.
