"""A class that does the encoding, functions that call it, and a main that prints."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from encoder import load, tokenizer
from text import val


@dataclass
class Encoded:
    """What the encoder gives for a list of texts."""

    last: Tensor  # [n, ids, hidden]
    mask: Tensor  # [n, ids]
    pooled: Tensor  # [n, hidden]


class Frozen:
    """The encoder without its gradients."""

    def __init__(self) -> None:
        self.model = load()
        self.model.eval()

    def __call__(self, texts: list[str], mask: bool = True) -> Encoded:
        given = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
        kept = given["attention_mask"]
        arguments = dict(given) if mask else {"input_ids": given["input_ids"]}
        with torch.inference_mode():
            out = self.model(**arguments)
        return Encoded(out.last_hidden_state.clone(), kept, out.pooler_output)


frozen = Frozen()


def mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    weights = mask.to(hidden).div(mask.to(hidden).sum(1, keepdim=True))  # [n, ids]
    return torch.bmm(weights.unsqueeze(1), hidden).squeeze(1)


def encode_queries(texts: list[str]) -> Tensor:
    found = frozen(texts)
    return mean_pool(found.last, found.mask)


def unmasked_move(texts: list[str]) -> float:
    masked, bare = frozen(texts), frozen(texts, mask=False)
    gaps = (masked.last - bare.last).abs().amax(-1)  # [n, ids]
    return (gaps * masked.mask).max().item()


def pooler(texts: list[str]) -> Tensor:
    weights = frozen.model.pooler.state_dict()
    cls = frozen(texts).last.select(1, 0)
    return nn.functional.linear(cls, weights["dense.weight"], weights["dense.bias"]).tanh_()


def main() -> None:
    queries = val["text"].tolist()[:12]
    alone = torch.vstack([encode_queries([query]) for query in queries])
    same = torch.allclose(alone, encode_queries(queries), rtol=0, atol=1e-5)
    rebuilt = torch.allclose(pooler(queries), frozen(queries).pooled, rtol=0, atol=1e-5)
    print("alone and padded agree", same, sep="\t")
    print("largest move, no mask", f"{unmasked_move(queries):.4f}", sep="\t")
    print("pooler agrees", rebuilt, sep="\t")


if __name__ == "__main__":
    main()
