"""What is asked in hidden cases alone: batches that are nearly right, or hardly a batch."""

import numpy as np
import torch

import course_bundle
import text
from encoder import tokenizer


def edges(m):
    """What `from_tokenizer` says of a batch, by what the batch is."""
    return {name: _said(m, *batch) for name, batch in _batches().items()}


def _batches():
    queries = list(text.test["text"])
    ids, mask = _encoded(queries[:13])
    real = mask.sum(1)
    long, short = int(real.argmax()), int(real.argmin())
    other = 0 if short != 0 else 1  # a row that is not the shortest
    cls, sep, pad = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    strange = [one for one in (101, 102, 1012, 1029, 4, 5) if one not in (cls, sep)][:2]
    table = max(len(tokenizer), int(course_bundle.config()["vocab_size"]))
    last = min(len(tokenizer), int(course_bundle.config()["vocab_size"])) - 1
    end = int(real[short]) - 1  # the column of [SEP] in the shortest row
    pairs, pairs_mask = _encoded(queries[:5], queries[5:10])
    lost = _with(pairs, [((i, int(pairs_mask[i].sum()) - 1), int(pairs[i, 1])) for i in range(5)])
    one = [((0, int(pairs_mask[0].sum()) - 1), int(pairs[0, 1]))]
    left = torch.stack([row.roll(ids.shape[1] - int(n)) for row, n in zip(ids, real, strict=True)])
    left_mask = torch.stack([row.flip(0) for row in mask])
    words = text.test_set.tensors[0][:13] % len(tokenizer)
    words_mask = (text.test_set.tensors[0][:13] != 0).long()
    first = (ids[short, : end + 1].tolist() + [pad] * words.shape[1])[: words.shape[1]]
    swapped = mask.clone()
    swapped[[long, short]] = mask[[short, long]]
    ends = [((i, int(n) - 1), strange[1]) for i, n in enumerate(real)]
    return {
        "tokenized": (ids, mask),
        "an empty text among others": _encoded([queries[0], "", queries[1]]),
        "an empty text alone": _encoded([""]),
        "pairs": (pairs, pairs_mask),
        "last id of the table": (_with(ids, [((short, 1), last)]), mask),
        "last id of the table in two rows": (_with(ids, [((0, 2), last), ((-1, 1), last)]), mask),
        "no rows": (ids[:0], mask[:0]),
        "no rows, one column": (ids[:0, :1], mask[:0, :1]),
        "no columns": (ids[:3, :0], mask[:3, :0]),
        "no columns, one row": (ids[:1, :0], mask[:1, :0]),
        "pads on the left": (left, left_mask),
        "pads on the left in one row": (
            _with(ids, [((short, slice(None)), left[short])]),
            _with(mask, [((short, slice(None)), left_mask[short])]),
        ),
        "[CLS] alone": (torch.tensor([[cls]]), torch.tensor([[1]])),
        "[SEP] alone": (torch.tensor([[sep]]), torch.tensor([[1]])),
        "[CLS] alone among others": (
            _with(ids, [((short, slice(1, None)), pad)]),
            _with(mask, [((short, slice(1, None)), 0)]),
        ),
        "no real id": (ids, _with(mask, [((long, slice(None)), 0)])),
        "no real id, alone": (ids[long, None], 0 * mask[long, None]),
        "nothing but padding": (
            _with(ids, [((other, slice(None)), pad)]),
            _with(mask, [((other, slice(None)), 0)]),
        ),
        "an id past the table": (_with(ids, [((short, 1), table)]), mask),
        "an id past the table in the last row": (_with(ids, [((-1, 2), table)]), mask),
        "an id below 0": (_with(ids, [((other, 1), -1)]), mask),
        "an id below 0 in the last row": (_with(ids, [((-1, 1), -100)]), mask),
        "padding past the table": (_with(ids, [((short, -1), table)]), mask),
        "padding below 0": (ids.masked_fill(mask == 0, -100), mask),
        "another tokenizer's [CLS] and [SEP]": (
            _with(ids, [((slice(None), 0), strange[0]), *ends]),
            mask,
        ),
        "another tokenizer's, one row": (
            _with(ids[short, None], [((0, 0), strange[0]), ((0, end), strange[1])]),
            mask[short, None],
        ),
        "word ids after [CLS]": (_with(words, [((slice(None), 0), cls)]), words_mask),
        "word ids, first row the tokenizer's": (
            _with(words, [((0, slice(None)), torch.tensor(first))]),
            _with(words_mask, [((0, slice(None)), (torch.tensor(first) != pad).long())]),
        ),
        "[SEP] inside alone": (lost, pairs_mask),
        "[SEP] inside alone in one row": (_with(pairs, one), pairs_mask),
        "a mask without [SEP]": (ids, _with(mask, [((short, end), 0)])),
        "a mask without [SEP] in the longest row": (ids, _with(mask, [((long, -1), 0)])),
        "a mask with a pad": (ids, _with(mask, [((short, end + 1), 1)])),
        "a mask of ones alone": (ids, torch.ones_like(mask)),
        "masks of two rows exchanged": (ids, swapped),
        "a mask with a gap": (ids, _with(mask, [((short, 2), 0)])),
        "a mask with a gap in the last row": (ids, _with(mask, [((-1, 1), 0)])),
        "a mask without [CLS]": (ids, _with(mask, [((short, 0), 0)])),
        "a mask without [CLS] in any row": (ids, _with(mask, [((slice(None), 0), 0)])),
    }


def _encoded(*texts):
    batch = tokenizer(*texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    return batch["input_ids"], batch["attention_mask"]


def _with(tensor, entries):
    """A copy with other entries, by their place."""
    changed = tensor.clone()
    for place, value in entries:
        changed[place] = value
    return changed


def _said(m, ids, mask):
    """What `from_tokenizer` says of a batch, or that it raises; see `contract`."""
    try:
        said = m.from_tokenizer(ids.clone(), mask.clone())
    except NotImplementedError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever a submission raises is its answer
        return f"it raises {type(problem).__name__}: {problem}"[:200]
    single = isinstance(said, torch.Tensor | np.ndarray) and said.ndim == 0
    return said.item() if single else said
