"""You cut the heads by a `view` in the wanted shape, and tokens and heads get mixed: `view(n,
count, ids, width)` reads the entries in the order in which they lie, so what it takes for a head is
a run of tokens. Cut the last axis into `[n, ids, count, width]` and exchange the two middle axes
then.

Loses: heads, mix, post_norm, pre_norm, encode, lines
"""

import torch
import torch.nn.functional as F

from attention import attention
from encoder import batches, load
from text import val


def heads(x, count):
    n, ids, hidden = x.shape
    return x.reshape(n, count, ids, hidden // count)


def mix(layer, h, mask=None):
    """Self-attention of all heads, through the output's dense map `[n, ids, hidden]`."""
    own = layer.attention.self
    q, k, v = (heads(part(h), own.num_attention_heads) for part in (own.query, own.key, own.value))
    seen = None if mask is None else mask[:, None, None, :]
    out, _ = attention(q, k, v, seen)
    return layer.attention.output.dense(out.transpose(1, 2).flatten(2))


def ffn(layer, h):
    inner = layer.intermediate.dense(h)
    inner = F.gelu(inner)
    return layer.output.dense(inner)


def post_norm(layer, h, mask=None):
    attended = mix(layer, h, mask)
    x = layer.attention.output.LayerNorm(attended + h)
    y = layer.output.LayerNorm(ffn(layer, x) + x)
    return y


def pre_norm(layer, h, mask=None):
    x = h + mix(layer, layer.attention.output.LayerNorm(h), mask)
    y = x + ffn(layer, layer.output.LayerNorm(x))
    return y


def encode(model, batch):
    ids, types, mask = (batch[k] for k in ("input_ids", "token_type_ids", "attention_mask"))
    h = model.embeddings(ids, types)
    for i in range(model.config.num_hidden_layers):
        h = post_norm(model.encoder.layer[i], h, mask)
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
