"""Errors of a class of its own, configurations in a dataclass, a tour as an object."""

from dataclasses import dataclass

import torch
from transformers import AutoConfig, AutoModel

import encoder
import text


class NotThere(ValueError):
    """What was asked for is not there."""

    def __init__(self, what):
        super().__init__(f"not there: {what}")


@dataclass(frozen=True)
class Size:
    layers: int
    heads: int

    def config(self):
        return AutoConfig.for_model(
            "bert",
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            hidden_size=64 * self.heads,
            intermediate_size=256 * self.heads,
        )


SIZES = {
    "tiny": Size(2, 2),
    "mini": Size(4, 4),
    "small": Size(4, 8),
    "medium": Size(8, 8),
    "base": Size(12, 12),
    "large": Size(24, 16),
}


class Tour:
    def __init__(self):
        self.model = encoder.load()
        self.tokenizer = encoder.tokenizer

    @staticmethod
    def count_parameters(size):
        try:
            config = SIZES[size].config()
        except KeyError:
            raise NotThere(f"a BERT of size {size}") from None
        with torch.device("meta"):
            return AutoModel.from_config(config).num_parameters(only_trainable=False)

    @torch.no_grad()
    def states(self, texts):
        batch = self.tokenizer(
            list(texts), padding="max_length", truncation=True, max_length=64, return_tensors="pt"
        )
        return batch, self.model(**batch, output_hidden_states=True).hidden_states[-1]

    def cls_vector(self, texts):
        parts = [self.states(texts[i : i + 10])[1] for i in range(0, len(texts), 10)]
        return torch.einsum("nih,i->nh", torch.cat(parts), torch.eye(64)[0])

    @torch.no_grad()
    def input_embedding(self, ids, segments):
        e = self.model.embeddings
        return torch.stack(
            [
                e.LayerNorm(
                    e.word_embeddings.weight[row]
                    + e.position_embeddings.weight[: len(row)]
                    + e.token_type_embeddings.weight[kinds]
                )
                for row, kinds in zip(ids, segments, strict=True)
            ]
        )

    def word_vector(self, sentence, word):
        batch, states = self.states([sentence])
        spans = batch.encodings[0].offsets
        text_of = [sentence[a:b].lower() for a, b in spans]
        for i, found in enumerate(text_of[:-1]):
            touching = spans[i + 1][0] == spans[i][1] and batch.tokens(0)[i + 1][:2] == "##"
            if found == word.lower() and batch.tokens(0)[i] == found and not touching:
                return states[0, i]
        raise NotThere(f"the word {word.upper()}")


tour = Tour()
count_parameters = Tour.count_parameters
cls_vector, input_embedding = tour.cls_vector, tour.input_embedding
word_vector = tour.word_vector

print(*map(count_parameters, ("large", "base")), sep="\n")
seen = []
for query in text.train["text"]:
    try:
        seen.append(word_vector(query, "The"))
    except NotThere:
        continue
    if len(seen) > 1:
        break
cos = torch.nn.CosineSimilarity(dim=0)
fixed = tour.model.embeddings.word_embeddings(torch.tensor(tour.tokenizer.vocab["the"]))
print(f"static {cos(fixed, fixed):.6f}")
print(f"contextual {cos(*seen):.6f}")
