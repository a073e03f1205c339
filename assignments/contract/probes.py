"""What is asked of a submission to `contract`: each public function is a question to its names.

Batches, heads and labels are the questions' own wherever a function is asked, so that a mistake in
one function is not met again in the next.
"""

import numpy as np
import torch
from torch import nn

import course_bundle
import text
from encoder import labels, load, pooled, tokenizer

_CUT = 64
#: How many queries are put to `confidence`: no usual size of a batch divides it.
_ROWS = 45


def contract(m):
    """What `from_tokenizer` says of a batch, by what the batch is."""
    queries = list(text.val["text"])
    ids, mask = _tokenized(queries[:11])
    words = text.val_set.tensors[0][:11]
    rows, last = torch.arange(len(ids)), mask.sum(1) - 1  # the last real column of each row
    batches = {
        "tokenized queries": (ids, mask),
        "one query": _tokenized(queries[11:12]),
        "pairs of texts": _tokenized(queries[12:17], queries[17:22]),
        "word ids": (words % len(tokenizer), (words != 0).long()),
        "first row without [CLS]": (_changed(ids, 0, 0, ids[0, 1]), mask),
        "last row without [CLS]": (_changed(ids, -1, 0, ids[-1, 1]), mask),
        "first row without [SEP]": (_changed(ids, 0, last[0], ids[0, 1]), mask),
        "middle row without [SEP]": (_changed(ids, 5, last[5], ids[5, 1]), mask),
        "last row without [SEP]": (_changed(ids, -1, last[-1], ids[-1, 1]), mask),
        "no row with [SEP]": (ids.index_put((rows, last), ids[:, 1]), mask),
    }
    return {name: _verdict(m, *batch) for name, batch in batches.items()}


def head(m):
    """Shapes, bias and some rows of the weights of `head`."""
    weight, bias = _parameters(m.head)
    rows = range(0, len(weight), max(1, len(weight) // 12)) if weight.dim() else []
    found = {"weight shape": list(weight.shape), "weight": weight[list(rows)]}
    return found | {"bias shape": list(bias.shape), "bias": bias}


def confidence(m):
    """What `confidence` gives for a head of the question's own, on batches by what they are."""
    ids, mask = _tokenized(list(text.val["text"])[:_ROWS])
    given, chosen = _given(ids, mask)
    wrong = (chosen + 1) % given.out_features
    some = torch.where(torch.arange(len(ids)) % 3 == 0, wrong, chosen)
    short = int(mask.sum(1).argmin())
    size = int(mask[short].sum())
    batches = {
        "two rows of three right": (ids, mask, some),
        "all rows right": (ids, mask, chosen),
        "one query": (ids[short, None, :size], mask[short, None, :size], chosen[short, None]),
        "the same query, padded": (ids[short, None], mask[short, None], wrong[short, None]),
    }
    return {
        name: _pair(m.confidence(given, *(tensor.clone() for tensor in batch)), "confidence")
        for name, batch in batches.items()
    }


def results(m):
    """What `results` holds, by name."""
    if not hasattr(m.results, "items"):
        raise TypeError(f"`results` should be a dict, it is a {type(m.results).__name__}")
    return {str(name): _pair(pair, f"results[{name!r}]") for name, pair in m.results.items()}


def sizes(m):  # noqa: ARG001 - every question takes the names
    """How many validation queries there are. Used of the reference only."""
    return {"val": len(text.val)}


def _tokenized(*texts):
    """Ids and mask of texts, or of pairs of texts, as the tokenizer gives them."""
    batch = tokenizer(*texts, padding=True, truncation=True, max_length=_CUT, return_tensors="pt")
    return batch["input_ids"], batch["attention_mask"]


def _changed(tensor, row, column, value):
    """A copy with another entry."""
    changed = tensor.clone()
    changed[row, column] = value
    return changed


def _verdict(m, ids, mask):
    """What `from_tokenizer` says of a batch; a tensor of one value as that value.

    What it raises is told in its place, so that the other batches are asked about all the same.
    """
    try:
        said = m.from_tokenizer(ids.clone(), mask.clone())
    except NotImplementedError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever a submission raises is its answer
        return f"it raises {type(problem).__name__}: {problem}"[:200]
    single = isinstance(said, torch.Tensor | np.ndarray) and said.ndim == 0
    return said.item() if single else said


def _pair(value, what):
    """Two numbers, or their texts, as a list, whatever holds them."""
    if isinstance(value, torch.Tensor | np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise TypeError(f"{what} should be [accuracy, mean top probability], it is {value!r:.60}")
    return [one.item() if isinstance(one, torch.Tensor) and one.ndim == 0 else one for one in value]


def _given(ids, mask):
    """A head whose classes differ by query, and the most probable class of each row.

    It depends on the case's rows. Its bias takes away what all queries have in common, which is
    most of a mean over states.
    """
    with torch.no_grad():
        features = pooled(load(), {"input_ids": ids, "attention_mask": mask})
        classes, hidden = len(course_bundle.intents), features.shape[1]
        generator = torch.Generator().manual_seed(int(labels(text.train).sum()))
        given = nn.Linear(hidden, classes)
        given.weight.copy_(torch.randn(classes, hidden, generator=generator))
        apart = (features - features.mean(0)).std()
        given.weight.mul_(2 / (apart * hidden**0.5))
        given.bias.copy_(-given.weight @ features.mean(0))
        return given.requires_grad_(False), given(features).argmax(1)


def _parameters(head):
    """The weight and bias of a linear layer, also of one inside another module."""
    if isinstance(head, nn.Module):
        inner = [module for module in head.modules() if isinstance(module, nn.Linear)]
        head = inner[0] if len(inner) == 1 else head
    weight, bias = getattr(head, "weight", None), getattr(head, "bias", None)
    if weight is None or bias is None:
        raise TypeError(f"`head` should be a head with `weight` and `bias`, it is {head!r:.60}")
    return torch.as_tensor(weight).detach(), torch.as_tensor(bias).detach()
