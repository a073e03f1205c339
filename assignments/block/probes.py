"""What is asked of a submission to `block`: each public function is a question to its names.

Functions are asked about states, layers and models of the grader's own, of sizes that depend on the
case's rows, and about the pretrained encoder's first and last layer. In questions named `one_id` a
query is one id, over which attention has no choice, and the activation only gets what gelu leaves
as it is: they ask for residuals, norms and order, whatever `mix` and `ffn` make of longer rows.
"""

import functools

import numpy as np
import torch
from transformers import BatchEncoding, BertConfig, BertModel

import text
from encoder import labels, load, tokenizer

#: Heads, hidden, inner size of layers of the grader's own; four heads would fit in all of them.
_SIZES = ((3, 24, 40), (5, 40, 56), (6, 36, 52), (3, 36, 44), (7, 28, 48))
#: Of the norms of such layers: far from BERT's own and from torch's, so that it shows.
_EPS = 0.02


def heads(m):
    """Random states `[n, ids, hidden]` cut into several heads, one, and single entries."""
    count, hidden, _ = _size()
    given = {
        "several": (_states(2, 5, hidden), count),
        "more": (_states(3, 4, 4 * hidden), 2 * count),
        "one": (_states(1, 7, hidden), 1),
        "single entries": (_states(2, 1, hidden), hidden),
    }
    return {
        name: _tensor(m.heads(x, heads), "heads(x, count)") for name, (x, heads) in given.items()
    }


def mix(m):
    """A layer of the grader's own, every token real."""
    hidden = _size()[1]
    return _all(m.mix(_layer(), _states(2, 6, hidden)), "mix(layer, h)")


def mix_masked(m):
    """The same layer with padding at the end, at the start and in between."""
    h, mask = _states(4, 6, _size()[1]), _mask()
    return _real(m.mix(_layer(), h, mask.clone()), mask, "mix(layer, h, mask)")


def mix_own(m):
    """The first and the last layer of the pretrained encoder, on random states with padding."""
    return _of_own(lambda layer, h, mask: m.mix(layer, h, mask), "mix(layer, h, mask)")


def ffn(m):
    """A layer of the grader's own, on states small and large."""
    h = torch.cat([0.3 * _states(1, 5, _size()[1]), 2 * _states(1, 5, _size()[1])])
    return _all(m.ffn(_layer(), h), "ffn(layer, h)")


def ffn_own(m):
    """The first and the last layer of the pretrained encoder, on random states."""
    return _of_own(lambda layer, h, _: m.ffn(layer, h), "ffn(layer, h)")


def post_norm_one_id(m):
    """A layer whose attention and activation are as plain as can be, on queries of one id."""
    h = _states(9, 1, _size()[1])
    return _all(m.post_norm(_layer(plain=True), h), "post_norm(layer, h)")


def post_norm_masked(m):
    """A layer of the grader's own with padding at the end, at the start and in between."""
    h, mask = _states(4, 6, _size()[1]), _mask()
    return _real(m.post_norm(_layer(), h, mask.clone()), mask, "post_norm(layer, h, mask)")


def post_norm_own(m):
    """The first and the last layer of the pretrained encoder, on random states with padding."""
    what = "post_norm(layer, h, mask)"
    return _of_own(lambda layer, h, mask: m.post_norm(layer, h, mask), what)


def pre_norm_one_id(m):
    """A layer whose attention and activation are as plain as can be, on queries of one id."""
    h = _states(9, 1, _size()[1])
    return _all(m.pre_norm(_layer(plain=True), h), "pre_norm(layer, h)")


def pre_norm_masked(m):
    """A layer of the grader's own with padding at the end, at the start and in between."""
    h, mask = _states(4, 6, _size()[1]), _mask()
    return _real(m.pre_norm(_layer(), h, mask.clone()), mask, "pre_norm(layer, h, mask)")


def pre_norm_own(m):
    """The first and the last layer of the pretrained encoder, on random states with padding."""
    what = "pre_norm(layer, h, mask)"
    return _of_own(lambda layer, h, mask: m.pre_norm(layer, h, mask), what)


def encode_one_id(m):
    """A model of the grader's own whose layers are plain, on queries of one id, both segments."""
    model = _model(plain=True)
    batch = _batch(torch.arange(8)[:, None] % 5 + 3 * (torch.arange(8)[:, None] > 4), 1)
    batch["token_type_ids"] = torch.arange(8)[:, None] % 2
    return _encoded(m, model, batch)


def encode_random(m):
    """A model of the grader's own on random ids, two segments in a row, with padding."""
    ids = torch.randint(1, 50, (4, 9), generator=_generator(5))
    batch = _batch(ids, torch.arange(9) < torch.tensor([[9], [4], [7], [2]]))
    batch["token_type_ids"] = batch["attention_mask"] * (torch.arange(9) > 2).long()
    return _encoded(m, _model(), batch)


def encode_queries(m):
    """The pretrained encoder on the shortest and longest of some validation queries."""
    ordered = sorted(list(text.val["text"])[:40], key=lambda query: (len(query), query))
    return _encoded(m, _own(), _tokenized(ordered[:3] + ordered[-3:]))


def encode_pairs(m):
    """The pretrained encoder on pairs of queries: two segments in a row."""
    queries = list(text.val["text"])
    return _encoded(m, _own(), _tokenized(queries[:3], queries[3:6]))


def differences(m):
    """The printed differences unrounded, where the solution keeps them; nobody else need."""
    try:
        return {name: float(value) for name, value in m.differences.items()}
    except Exception:  # noqa: BLE001 - a submission may use the name for anything, or not at all
        return None


def _seed():
    return int(labels(text.train).sum())


def _generator(more=0):
    return torch.Generator().manual_seed(_seed() + more)


def _size():
    """Heads, hidden and inner size of the grader's own layers in this case."""
    return _SIZES[_seed() % len(_SIZES)]


def _states(*shape):
    """Random states `[n, ids, hidden]`, new ones in each call."""
    return torch.randn(*shape, generator=_generator(sum(shape)))


def _mask():
    """Real tokens of four queries of six ids: all, the first, the last, and two apart."""
    return torch.tensor(
        [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1], [0, 1, 0, 0, 1, 0]]
    )


def _layer(plain=False):
    return _model(plain).encoder.layer[1]


@functools.cache
def _model(plain=False):
    """A small BERT whose weights are all large enough to be missed.

    Args:
        plain: let the activation get values near 8 alone, where gelu and what is taken for it all
            give back what they get.
    """
    count, hidden, inner = _size()
    config = BertConfig(
        vocab_size=50, max_position_embeddings=40, hidden_size=hidden, num_hidden_layers=3,
        num_attention_heads=count, intermediate_size=inner, layer_norm_eps=_EPS,
    )  # fmt: skip
    model, generator = BertModel(config), _generator(1)
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        if name.endswith("LayerNorm.weight"):
            drawn = 1 + 0.3 * drawn
        elif name.endswith("bias"):
            drawn = 0.4 * drawn
        elif "embeddings" not in name:
            drawn = 1.5 * drawn / hidden**0.5
        if plain and ".intermediate.dense." in name:
            drawn = 0.3 * drawn + 8 * name.endswith("bias")
        parameter.data.copy_(drawn)
    return _closed(model)


@functools.cache
def _own():
    return _closed(load())


def _closed(model):
    """The model in evaluation mode, without gradients; what is to be rebuilt cannot be called."""
    model.eval().requires_grad_(False)
    closed = {"model": model, "model.encoder": model.encoder}
    for layer in model.encoder.layer:
        closed |= {"layer": layer, "layer.attention": layer.attention}
        closed["layer.attention.self"] = layer.attention.self
        for name, module in closed.items():
            module.forward = _refusing(name)
    return model


def _refusing(name):
    def forward(*_, **__):
        raise RuntimeError(f"{name}(...) was called: rebuild it from its weights instead")

    return forward


def _of_own(function, what):
    """What a function of (layer, h, mask) gives for the pretrained encoder's outer layers."""
    layers = _own().encoder.layer
    h = _states(3, 6, _own().config.hidden_size)
    mask = _mask()[:3]
    return {
        name: _real(function(layer, h.clone(), mask.clone()), mask, what)
        for name, layer in (("first", layers[0]), ("last", layers[-1]))
    }


def _batch(ids, real):
    """Ids `[n, ids]` as the tokenizer gives a batch; 0 where they are not real."""
    mask = torch.as_tensor(real).long().expand_as(ids).clone()
    return BatchEncoding(
        {"input_ids": ids * mask, "token_type_ids": torch.zeros_like(ids), "attention_mask": mask}
    )


def _tokenized(*texts):
    return tokenizer(
        *texts, padding=True, truncation=True, max_length=64, return_token_type_ids=True,
        return_attention_mask=True, return_tensors="pt",
    )  # fmt: skip


def _encoded(m, model, batch):
    mask = batch["attention_mask"].bool()
    return _real(m.encode(model, batch), mask, "encode(model, batch)")


def _all(value, what):
    """The shape and all states of every token."""
    found = _tensor(value, what)
    return {"shape": list(found.shape), "states": found}


def _real(value, mask, what):
    """The shape, and the states `[tokens, hidden]` of the real tokens."""
    found = _tensor(value, what)
    if found.shape[:2] != mask.shape:
        raise TypeError(
            f"{what} should be {[*mask.shape, 'hidden']}, it has shape {list(found.shape)}"
        )
    return {"shape": list(found.shape), "states": found[mask.bool()]}


def _tensor(value, what):
    """A tensor, an array or lists of them as one plain tensor."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, np.ndarray):
        return torch.as_tensor(np.ascontiguousarray(value))
    if isinstance(value, list | tuple) and value and not isinstance(value[0], str):
        try:
            if isinstance(value[0], list | tuple | torch.Tensor | np.ndarray):
                return torch.stack([_tensor(item, what) for item in value])
            return torch.tensor(value)
        except (RuntimeError, TypeError, ValueError):
            shown = f"a {type(value).__name__} of {len(value):,} that are no equal rows"
            raise TypeError(f"{what} should be a tensor, it is {shown}") from None
    raise TypeError(f"{what} should be a tensor, it is {value!r:.60}")
