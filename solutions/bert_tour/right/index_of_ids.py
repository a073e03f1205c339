"""Found by `list.index`; gradients left on, and rows given as lists of tensors."""

import torch
from transformers import BertConfig, BertModel

from encoder import load, tokenizer
from text import train

model = load()


def index(items, item):
    if item not in items:
        raise ValueError(f"{item!r} is not among {items}")
    return items.index(item)


def count_parameters(size):
    known = ["tiny", "mini", "small", "medium", "base", "large"]
    i = index(known, size)
    config = BertConfig()
    config.num_hidden_layers = [2, 4, 4, 8, 12, 24][i]
    config.hidden_size = [128, 256, 512, 512, 768, 1024][i]
    config.num_attention_heads = config.hidden_size // 64
    config.intermediate_size = config.hidden_size * 4
    with torch.device("meta"):
        return torch.tensor([p.numel() for p in BertModel(config).parameters()], device="cpu").sum()


def cls_vector(texts):
    out = []
    for piece in torch.arange(len(texts)).chunk(max(1, len(texts) // 7)):
        batch = tokenizer(
            [texts[i] for i in piece], padding=True, truncation=True, max_length=64,
            return_tensors="pt",
        )  # fmt: skip
        out.extend(model(**batch).last_hidden_state.select(1, 0).unbind())
    return out


def input_embedding(ids, segments):
    one_hot = torch.nn.functional.one_hot
    e = model.embeddings
    words = e.word_embeddings(ids)
    kinds = one_hot(segments, 2).float() @ e.token_type_embeddings.weight
    places = e.position_embeddings(torch.arange(ids.shape[1]).expand_as(ids))
    return e.LayerNorm(words + kinds + places)


def word_vector(sentence, word):
    pieces = ["[CLS]"]
    for piece in tokenizer.tokenize(sentence)[:62]:
        if piece.startswith("##") and "##" not in pieces[-1]:
            pieces[-1] += "##"  # no word any more
        pieces.append(piece)
    i = index(pieces, word.lower())
    ids = tokenizer(sentence, truncation=True, max_length=64, return_tensors="pt").input_ids
    return model(ids).last_hidden_state[0][i]


base, large = count_parameters("base").item(), count_parameters("large").item()
print("parameters", {"base": base, "large": large})


def try_word(query):
    try:
        return word_vector(query, "the")
    except ValueError:
        return None


found = [v for v in map(try_word, train["text"]) if v is not None]
row = model.embeddings.word_embeddings.weight[tokenizer.convert_tokens_to_ids("the")]
print(torch.cosine_similarity(found[0], found[1], dim=0), torch.cosine_similarity(row, row, dim=0))
