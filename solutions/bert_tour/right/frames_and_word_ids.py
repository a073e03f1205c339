"""Texts as a frame for the course's batches, words by the tokenizer's word numbers."""

import contextlib

import pandas as pd
import torch
from torch.nn import functional
from transformers import BertConfig, BertModel

import text
from encoder import batches, load, tokenizer

model = load().requires_grad_(False)

CONFIGS = {
    name: BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=width * 4,
    )
    for name, layers, width in (
        ("tiny", 2, 128),
        ("mini", 4, 256),
        ("small", 4, 512),
        ("medium", 8, 512),
        ("base", 12, 768),
        ("large", 24, 1024),
    )
}


def count_parameters(size):
    config = CONFIGS.get(size)
    if config is None:
        raise ValueError(f"{size} is none of {list(CONFIGS)}")
    with torch.device("meta"):
        return BertModel(config).num_parameters()


def cls_vector(texts):
    df = pd.DataFrame({"text": texts, "category": text.intents[0]})
    return torch.cat([model(**batch).last_hidden_state[:, 0] for batch, _ in batches(df, 50)])


def input_embedding(ids, segments):
    e = model.embeddings
    tables = (e.word_embeddings, e.position_embeddings, e.token_type_embeddings)
    words, positions, kinds = (table.weight for table in tables)
    rows = words[ids] + positions[: ids.size(1)].unsqueeze(0) + kinds[segments]
    norm = e.LayerNorm
    return functional.layer_norm(rows, rows.shape[-1:], norm.weight, norm.bias, norm.eps)


def word_vector(sentence, word):
    encoded = tokenizer(sentence, truncation=True, max_length=64, return_tensors="pt")
    owners, ids = encoded.word_ids(0), encoded["input_ids"][0].tolist()
    wanted = tokenizer.convert_tokens_to_ids(word.lower())
    for place, (owner, entry) in enumerate(zip(owners, ids, strict=True)):
        if entry == wanted and owner is not None and owners.count(owner) == 1:
            return model(**encoded).last_hidden_state[0, place]
    raise ValueError(f"no piece of the sentence is {word}")


def vectors(word, queries):
    for query in queries:
        with contextlib.suppress(ValueError):
            yield word_vector(query, word)


print({size: f"{count_parameters(size):,}" for size in ("base", "large")})
found = vectors("the", text.train["text"])
a, b = next(found), next(found)
the = model.get_input_embeddings()(torch.tensor(tokenizer.convert_tokens_to_ids(["the", "the"])))
print("the:", functional.cosine_similarity(a, b, dim=0), functional.cosine_similarity(*the, dim=0))
