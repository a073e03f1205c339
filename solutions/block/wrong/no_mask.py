"""You take a mask and leave it out of the attention: real tokens attend to the padding too, so that
a query's states depend on how much of it there is. Give `attention` the mask, broadcast over heads
and queries.

Loses: mix, post_norm, pre_norm, encode, lines
"""

import torch
import torch.nn.functional as F

from attention import attention
from encoder import batches, load
from text import val


def heads(x, count):
    n, ids, hidden = x.shape
    return x.view(n, ids, count, hidden // count).permute(0, 2, 1, 3)


def mix(layer, h, mask=None):  # noqa: ARG001
    """Self-attention of all heads, through the output's dense map `[n, ids, hidden]`."""
    own = layer.attention.self
    q, k, v = (heads(part(h), own.num_attention_heads) for part in (own.query, own.key, own.value))
    out, _ = attention(q, k, v)
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
