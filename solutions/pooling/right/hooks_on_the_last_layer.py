"""The states are caught by a hook on the last layer, and the pooler's own tanh is used."""

import torch

from encoder import load, tokenizer
from text import val

torch.set_grad_enabled(False)
net = load()
caught = {}
net.encoder.layer[-1].register_forward_hook(
    lambda _, __, out: caught.update(last=out[0] if isinstance(out, tuple) else out)
)


def forward(texts, with_mask=True):
    batch = tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    mask = batch["attention_mask"]
    net(batch["input_ids"], attention_mask=mask if with_mask else torch.ones_like(mask))
    return caught["last"], mask


def mean_pool(hidden, mask):
    keep = mask.to(torch.bool).unsqueeze(2)
    return torch.where(keep, hidden, torch.nan).nanmean(dim=1)


def encode_queries(texts):
    return torch.cat([mean_pool(*forward(chunk)) for chunk in in_chunks(texts, 100)])


def in_chunks(items, size):
    while items:
        yield items[:size]
        items = items[size:]


def unmasked_move(texts):
    last, mask = forward(texts)
    changed = forward(texts, with_mask=False)[0] - last
    return max(
        float(changed.max(-1)[0][mask > 0].max()), -float(changed.min(-1)[0][mask > 0].min())
    )


def pooler(texts):
    head = net.pooler
    return torch.cat(
        [head.activation(head.dense(forward(chunk)[0][:, 0, :])) for chunk in in_chunks(texts, 100)]
    )


queries = list(val.text)[:12]
rows = encode_queries(queries)
apart = [
    float((encode_queries([q]) - row).abs().max()) for q, row in zip(queries, rows, strict=True)
]
print(1, max(apart) <= 1e-5)
print(2, format(unmasked_move(queries), ".6f"))
own = net(**tokenizer(queries, padding=True, return_tensors="pt")).pooler_output
print(3, torch.allclose(pooler(queries), own, rtol=0, atol=1e-5))
