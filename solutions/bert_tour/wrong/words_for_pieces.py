"""You counted words at spaces, and took the state with that number.

Marks are pieces of their own and a rare word is several, so behind them the numbers are off, and a
word with a mark at its end is not found. Look among the pieces of the sentence.

Loses: word, lines
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


def word_vector(sentence, word):
    batch = tokenizer(sentence, truncation=True, max_length=64, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    words = ["[CLS]", *sentence.lower().split()]
    if word.lower() in words and word.lower() in tokens:
        with torch.no_grad():
            return model(**batch).last_hidden_state[0, words.index(word.lower())]
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
