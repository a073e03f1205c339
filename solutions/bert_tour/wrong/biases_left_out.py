"""Your formula counts the weights and leaves out the biases of the linear layers.

Every linear layer of BERT has a bias, a number for each of its outputs: four of the width in
attention, two in the feed-forward part, one in the pooler.

Loses: counts, lines
"""

import torch

from encoder import load, tokenizer
from text import train

model = load()

LAYERS = {"tiny": 2, "mini": 4, "small": 4, "medium": 8, "base": 12, "large": 24}
WIDTHS = {"tiny": 128, "mini": 256, "small": 512, "medium": 512, "base": 768, "large": 1024}


def count_parameters(size):
    if size not in LAYERS:
        raise ValueError("there is no BERT of size " + str(size))
    n, h = LAYERS[size], WIDTHS[size]
    tables = (30522 + 512 + 2) * h + 2 * h
    attention = 4 * h * h + 2 * h
    feed_forward = h * 4 * h + 4 * h * h + 2 * h
    pooler = h * h
    return tables + n * (attention + feed_forward) + pooler


def encode(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    with torch.no_grad():
        return model(**batch)


def cls_vector(texts):
    rows = []
    for i in range(0, len(texts), 16):
        out = encode(texts[i : i + 16])
        rows.append(out.last_hidden_state[:, 0])
    return torch.cat(rows)


def input_embedding(ids, segments):
    e = model.embeddings
    positions = torch.arange(ids.shape[1])
    with torch.no_grad():
        total = (
            e.word_embeddings(ids)
            + e.position_embeddings(positions)
            + e.token_type_embeddings(segments)
        )
        return e.LayerNorm(total)


@torch.no_grad()
def word_vector(sentence, word):
    word = word.lower()
    ids = tokenizer(sentence, truncation=True, max_length=64)["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    if len(tokenizer.tokenize(word)) != 1:
        raise ValueError(f"the word {word!r} is several pieces")
    places = [i for i, piece in enumerate(pieces) if piece == word and pieces[i + 1][:2] != "##"]
    if not places:
        raise ValueError(f"the word {word!r} is not in the sentence")
    states = model(torch.tensor([ids])).last_hidden_state[0]
    return states[places[0]]


def holds(query):
    try:
        word_vector(query, "the")
    except ValueError:
        return False
    return True


def cosine(a, b):
    return float(a @ b / (a.norm() * b.norm()))


for size in ("base", "large"):
    print(size, count_parameters(size))
first, second = [query for query in train["text"] if holds(query)][:2]
print("contextual", round(cosine(word_vector(first, "the"), word_vector(second, "the")), 4))
embedding = model.embeddings.word_embeddings.weight.detach()[tokenizer.vocab["the"]]
print("static", round(cosine(embedding, embedding.clone()), 4))
