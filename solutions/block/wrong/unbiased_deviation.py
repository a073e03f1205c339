"""Your norm divides by the unbiased standard deviation: `std` and `var` divide by n - 1 unless told
otherwise, and a layer norm divides by n. Pass `correction=0`.

Loses: post_norm, pre_norm, encode, lines
"""

import math

import torch
import torch.nn.functional as F

from encoder import batches, load
from text import val


def heads(x, count):
    n, ids, hidden = x.shape
    return x.view(n, ids, count, hidden // count).permute(0, 2, 1, 3)


def norm(own, x):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / torch.sqrt(x.var(-1, keepdim=True) + own.eps)
    return own.weight * scaled + own.bias


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
    inner = layer.intermediate.dense(h)
    inner = F.gelu(inner)
    return layer.output.dense(inner)


def post_norm(layer, h, mask=None):
    attended = mix(layer, h, mask)
    x = norm(layer.attention.output.LayerNorm, attended + h)
    y = norm(layer.output.LayerNorm, ffn(layer, x) + x)
    return y


def pre_norm(layer, h, mask=None):
    x = h + mix(layer, norm(layer.attention.output.LayerNorm, h), mask)
    y = x + ffn(layer, norm(layer.output.LayerNorm, x))
    return y


def encode(model, batch):
    ids, types, mask = (batch[k] for k in ("input_ids", "token_type_ids", "attention_mask"))
    h = model.embeddings(ids, types)
    for i in range(model.config.num_hidden_layers):
        h = post_norm(model.encoder.layer[i], h, mask)
    return h


@torch.no_grad()
def compare():
    bert = load()
    batch = next(iter(batches(val, 32)))[0]
    mask = batch["attention_mask"]
    own = bert(**batch, output_hidden_states=True)
    h0, h1 = own.hidden_states[0], own.hidden_states[1]
    first = bert.encoder.layer[0]
    show("post_norm", post_norm(first, h0, mask), h1, mask)
    show("pre_norm", pre_norm(first, h0, mask), h1, mask)
    show("encode", encode(bert, batch), own.last_hidden_state, mask)


def show(name, mine, theirs, mask):
    difference = (mine - theirs)[mask == 1].abs().max()
    print(f"{name} {difference:.5f} {bool(difference <= 1e-5)}")


compare()
