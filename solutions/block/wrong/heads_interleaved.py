"""You deal the entries of a state out to the heads in turn, as cards: head 0 gets every count-th
entry rather than the first width ones. BERT's heads are runs of neighbouring entries, so split the
last axis as `(count, width)`, not as `(width, count)`.

Loses: heads, mix, post_norm, pre_norm, encode, lines
"""

import torch

from attention import attention
from encoder import batches, load
from text import val


def heads(x, count):
    """States `[n, ids, hidden]` split into heads `[n, count, ids, width]`."""
    return x.unflatten(-1, (-1, count)).permute(0, 3, 1, 2)


def mix(layer, h, mask=None):
    """Self-attention of all heads, through the output's dense map `[n, ids, hidden]`."""
    own = layer.attention.self
    q, k, v = (heads(part(h), own.num_attention_heads) for part in (own.query, own.key, own.value))
    seen = None if mask is None else mask[:, None, None, :]
    out, _ = attention(q, k, v, seen)
    return layer.attention.output.dense(out.permute(0, 2, 3, 1).flatten(2))


def ffn(layer, h):
    """The two dense maps with the activation between them `[n, ids, hidden]`."""
    return layer.output.dense(layer.intermediate.intermediate_act_fn(layer.intermediate.dense(h)))


def post_norm(layer, h, mask=None):
    """The layer as BERT has it: each norm after its residual `[n, ids, hidden]`."""
    h = layer.attention.output.LayerNorm(h + mix(layer, h, mask))
    return layer.output.LayerNorm(h + ffn(layer, h))


def pre_norm(layer, h, mask=None):
    """The same weights with each norm before its part `[n, ids, hidden]`."""
    h = h + mix(layer, layer.attention.output.LayerNorm(h), mask)
    return h + ffn(layer, layer.output.LayerNorm(h))


def encode(model, batch):
    """The last hidden states of a batch `[n, ids, hidden]`."""
    h = model.embeddings(input_ids=batch["input_ids"], token_type_ids=batch["token_type_ids"])
    for layer in model.encoder.layer:
        h = post_norm(layer, h, batch["attention_mask"])
    return h


model = load()
batch, _ = next(batches(val, 32))
mask, layer = batch["attention_mask"], model.encoder.layer[0]
with torch.no_grad():
    out = model(**batch, output_hidden_states=True)
    before, after = out.hidden_states[:2]
    pairs = {
        "post_norm": (post_norm(layer, before, mask), after),
        "pre_norm": (pre_norm(layer, before, mask), after),
        "encode": (encode(model, batch), out.last_hidden_state),
    }
for name, (mine, theirs) in pairs.items():
    difference = (mine - theirs)[mask.bool()].abs().max().item()
    print(f"{name:9} {difference:.5f} {difference <= 1e-5}")
