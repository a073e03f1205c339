"""The width inside the feed-forward part is that of base, 3,072, for every size.

`BertConfig` does not work it out from the width of the layers: what you do not give has base's
value. Give `intermediate_size` for each size, four times the width.

Loses: counts, lines
"""

import torch
from transformers import BertConfig, BertModel

from encoder import load, tokenizer
from text import train

model = load()

SIZES = {
    "tiny": (2, 128, 2, 512),
    "mini": (4, 256, 4, 1024),
    "small": (4, 512, 8, 2048),
    "medium": (8, 512, 8, 2048),
    "base": (12, 768, 12, 3072),
    "large": (24, 1024, 16, 4096),
}


def count_parameters(size):
    if size not in SIZES:
        raise ValueError(f"unknown size {size!r}")
    layers, width, heads, _ = SIZES[size]
    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=heads,
    )
    with torch.device("meta"):
        bert = BertModel(config)
    return sum(p.numel() for p in bert.parameters())


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
