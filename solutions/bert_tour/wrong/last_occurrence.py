"""Where a word stands more than once, you take the last time, and the first one counts.

A dict of positions by piece keeps the last one that was put in. Stop at the first, or use
`list.index`.

Loses: word, lines
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
    attention = 4 * (h * h + h) + 2 * h
    feed_forward = h * 4 * h + 4 * h + 4 * h * h + h + 2 * h
    pooler = h * h + h
    return tables + n * (attention + feed_forward) + pooler


@torch.no_grad()
def cls_vector(texts):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    return model(**batch).last_hidden_state[:, 0, :]


@torch.no_grad()
def input_embedding(ids, segments):
    table = dict(model.embeddings.named_parameters())
    x = table["word_embeddings.weight"][ids]
    x = x + table["position_embeddings.weight"][: ids.shape[1]]
    x = x + table["token_type_embeddings.weight"][segments]
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, keepdim=True, unbiased=False)
    x = (x - mean) / torch.sqrt(variance + model.config.layer_norm_eps)
    return x * table["LayerNorm.weight"] + table["LayerNorm.bias"]


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
    return states[places[-1]]


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
