"""A printed report: headings, the five words on five lines, thousands grouped by commas."""

import heapq
from collections import Counter

from encoder import tokenizer
from text import tokenize, train, vocab

words = tuple(word for word, number in vocab.items() if number >= 2)
pieces = {word: tuple(tokenizer.tokenize(word)) for word in words}
sizes = Counter(map(len, pieces.values()))
whole = sizes[1]
n_words = len([word for query in train["text"] for word in tokenize(query)])
n_pieces = len([piece for query in train["text"] for piece in tokenizer.tokenize(query)])

print("Vocabulary")
share = whole / len(words)
print(f"{len(words):>9,} words = {whole:,} whole ({share:.1%}) + {len(words) - whole:,} cut")
print()
print("The 5 words in the most pieces")
for place, word in enumerate(heapq.nlargest(5, words, key=lambda w: len(pieces[w])), start=1):
    print(f"{place:>4}. {word:20}", *pieces[word], sep="\t")
print()
print("Training queries")
print(f"{n_words:>9,} words\n{n_pieces:>9,} pieces\n{n_pieces / n_words:>9.4f} pieces a word")
