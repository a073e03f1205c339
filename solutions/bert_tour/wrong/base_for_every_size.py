"""Your count is that of base whatever size is asked for.

The configuration never sees the size's own layers and widths, so `BertConfig` fills in base's. Look
up what the table has for the size, and compare your count of base with that of large.

Loses: counts, lines
"""

import contextlib

import torch
from torch.nn import functional
from transformers import BertConfig, BertModel

import text
from encoder import load, tokenizer

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
        return BertModel(BertConfig()).num_parameters()


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


def vectors(word, queries):
    for query in queries:
        with contextlib.suppress(ValueError):
            yield word_vector(query, word)


print({size: f"{count_parameters(size):,}" for size in ("base", "large")})
found = vectors("the", text.train["text"])
a, b = next(found), next(found)
the = model.get_input_embeddings()(torch.tensor(tokenizer.convert_tokens_to_ids(["the", "the"])))
print("the:", functional.cosine_similarity(a, b, dim=0), functional.cosine_similarity(*the, dim=0))
