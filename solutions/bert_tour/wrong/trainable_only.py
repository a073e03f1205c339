"""You froze the embeddings and counted only what is still being trained.

Whether a parameter gets a gradient says nothing about whether it is there. Count all of
`parameters()`, whatever their `requires_grad`.

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
    layers, width, heads, inside = SIZES[size]
    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=inside,
    )
    with torch.device("meta"):
        bert = BertModel(config)
    bert.embeddings.requires_grad_(False)
    return sum(p.numel() for p in bert.parameters() if p.requires_grad)


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


print(count_parameters("base"), count_parameters("large"))
queries, vectors = [], []
for query in train["text"]:
    try:
        vectors.append(word_vector(query, "the"))
    except ValueError:
        continue
    queries.append(query)
    if len(queries) == 2:
        break
row = model.get_input_embeddings().weight[tokenizer.convert_tokens_to_ids("the")]
contextual = torch.cosine_similarity(*vectors, dim=0).item()
static = torch.cosine_similarity(row, row, dim=0).item()
print(f"the {contextual:.3f} {static:.3f}")
