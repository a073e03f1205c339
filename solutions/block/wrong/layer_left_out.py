"""You stop one layer early: `encoder.layer` has as many entries as the encoder has layers, since
the embeddings are none of them. Go through all.

Loses: encode, lines
"""

import math

import torch

from encoder import batches, load
from text import val


def heads(x, count):
    n, ids, hidden = x.shape
    return x.view(n, ids, count, hidden // count).permute(0, 2, 1, 3)


def mix(layer, h, mask=None):
    n, ids, hidden = h.shape
    att = layer.attention.self
    q = heads(att.query(h), att.num_attention_heads)
    k = heads(att.key(h), att.num_attention_heads)
    v = heads(att.value(h), att.num_attention_heads)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # [n, count, ids, ids]
    if mask is not None:
        scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
    out = scores.softmax(-1) @ v
    out = out.permute(0, 2, 1, 3).reshape(n, ids, hidden)
    return layer.attention.output.dense(out)


def ffn(layer, h):
    """The two dense maps with the activation between them `[n, ids, hidden]`."""
    return layer.output.dense(layer.intermediate.intermediate_act_fn(layer.intermediate.dense(h)))


def post_norm(layer, h, mask=None):
    attended = mix(layer, h, mask)
    x = layer.attention.output.LayerNorm(attended + h)
    y = layer.output.LayerNorm(ffn(layer, x) + x)
    return y


def pre_norm(layer, h, mask=None):
    """The same weights with each norm before its part `[n, ids, hidden]`."""
    h = h + mix(layer, layer.attention.output.LayerNorm(h), mask)
    return h + ffn(layer, layer.output.LayerNorm(h))


def encode(model, batch):
    """The last hidden states of a batch `[n, ids, hidden]`."""
    h = model.embeddings(input_ids=batch["input_ids"], token_type_ids=batch["token_type_ids"])
    for layer in model.encoder.layer[:-1]:
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
