"""A tour of BERT: its size, [CLS], what goes into its first layer, and a word in its sentence."""

from itertools import pairwise

import torch
from transformers import BertConfig, BertModel

from encoder import load, tokenizer
from text import train

# BEGIN SOLUTION
model = load()

# Layers and width of each size. The rest follows: heads are 64 wide, the feed-forward part is four
# times as wide as the layers; vocabulary, positions and segments are those of BertConfig by itself.
SIZES = {
    "tiny": (2, 128),
    "mini": (4, 256),
    "small": (4, 512),
    "medium": (8, 512),
    "base": (12, 768),
    "large": (24, 1024),
}


def count_parameters(size):
    """How many parameters a `BertModel` of a size has."""
    if size not in SIZES:
        raise ValueError(f"there is no size {size!r}, only {', '.join(SIZES)}")
    layers, width = SIZES[size]
    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
    )
    with torch.device("meta"):  # shapes without numbers
        return sum(p.numel() for p in BertModel(config).parameters())


def last_states(texts):
    """The tokenizer's batch of some texts, and their last hidden states `[texts, ids, hidden]`."""
    batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    with torch.no_grad():
        return batch, model(**batch).last_hidden_state


def cls_vector(texts):
    """The last state of [CLS] of each text `[n, hidden]`."""
    groups = [texts[start : start + 32] for start in range(0, len(texts), 32)]
    return torch.cat([last_states(group)[1][:, 0] for group in groups])


def input_embedding(ids, segments):
    """The normalized sum of the rows of token, position and segment `[n, k, hidden]`."""
    tables = model.embeddings
    with torch.no_grad():
        rows = tables.word_embeddings(ids) + tables.token_type_embeddings(segments)
        return tables.LayerNorm(rows + tables.position_embeddings.weight[: ids.shape[1]])


def place(pieces, word):
    """Where a word stands among a sentence's pieces for the first time, whole."""
    for i, (piece, following) in enumerate(pairwise(pieces)):
        if piece == word.lower() and not following.startswith("##"):
            return i
    raise ValueError(f"the word {word!r} does not stand in the sentence as one piece")


def word_vector(sentence, word):
    """The last state of a word in its sentence `[hidden]`."""
    batch, (states,) = last_states([sentence])
    return states[place(batch.tokens(), word)]


def first_two(word):
    """The first two training queries that hold a word."""
    found = []
    for query in train["text"]:
        try:
            word_vector(query, word)
        except ValueError:
            continue
        found.append(query)
        if len(found) == 2:
            return found


def static_embedding(sentence, word):
    """The row of the token table that a word has in a sentence `[hidden]`."""
    (ids,) = last_states([sentence])[0]["input_ids"]
    pieces = tokenizer.convert_ids_to_tokens(ids)
    return model.get_input_embeddings().weight[ids[place(pieces, word)]]


def cosine(a, b):
    """The cosine of two vectors `[hidden]`."""
    return torch.cosine_similarity(a, b, dim=0).item()


print(count_parameters("base"), count_parameters("large"))
two = first_two("the")
contextual, static = (
    cosine(*(find(query, "the") for query in two)) for find in (word_vector, static_embedding)
)
print(f"the: {contextual:.3f} in context, {static:.3f} in the table")
# END SOLUTION
