"""Answers as numpy arrays, lists and floats of double precision, one text at a time."""

import numpy as np
import torch

from encoder import load, tokenizer
from text import train

model = load().double()
weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def count_parameters(size):
    names = ["tiny", "mini", "small", "medium", "base", "large"]
    shapes = np.array([[2, 128], [4, 256], [4, 512], [8, 512], [12, 768], [24, 1024]])
    shape = dict(zip(names, shapes, strict=True)).get(size)
    if shape is None:
        raise ValueError(f"{size!r}: choose tiny, mini, small, medium, base or large")
    layers, h = shape
    shapes = [(30522, h), (512, h), (2, h), (2, h)]
    for _ in range(layers):
        shapes += [(h, h), (h,)] * 4 + [(2, h)]
        shapes += [(h, 4 * h), (4 * h,), (4 * h, h), (h,), (2, h)]
    shapes += [(h, h), (h,)]
    return np.sum([np.prod(shape, dtype=np.int64) for shape in shapes])


def states(text):
    ids = tokenizer.encode(text, truncation=True, max_length=64)
    with torch.no_grad():
        return ids, model(input_ids=torch.tensor([ids]))[0][0].numpy()


def cls_vector(texts):
    return [states(text)[1][0].tolist() for text in texts]


def input_embedding(ids, segments):
    ids, segments = np.asarray(ids), np.asarray(segments)
    positions = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
    rows = sum(
        weights[f"embeddings.{kind}_embeddings.weight"][index]
        for kind, index in (("word", ids), ("position", positions), ("token_type", segments))
    )
    rows = rows - rows.mean(axis=-1, keepdims=True)
    rows /= np.sqrt(np.square(rows).mean(axis=-1, keepdims=True) + model.config.layer_norm_eps)
    return rows * weights["embeddings.LayerNorm.weight"] + weights["embeddings.LayerNorm.bias"]


def word_vector(sentence, word):
    ids, vectors = states(sentence)
    names = np.array(tokenizer.convert_ids_to_tokens(ids))
    goes_on = np.append([name.startswith("##") for name in names[1:]], False)
    places = np.flatnonzero((names == word.lower()) & ~goes_on)
    if not len(places):
        raise ValueError(f"{word.lower()} is no piece of: {sentence}")
    return vectors[places.min()]


def cosine(a, b):
    return np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b)


print(f"{count_parameters('base')} parameters in base, {count_parameters('large')} in large")
pairs = []
for query in train["text"].tolist():
    if "the" in query.lower() and len(pairs) < 2:
        try:
            pairs.append((word_vector(query, "the"), tokenizer.convert_tokens_to_ids("the")))
        except ValueError as absent:
            print("skipped:", str(absent)[:20])
(a, i), (b, j) = pairs
table = weights["embeddings.word_embeddings.weight"]
print("the, in its sentences:", cosine(a, b), "by itself:", cosine(table[i], table[j]))
