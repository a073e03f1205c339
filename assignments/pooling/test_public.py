"""The checks of `pooling`, asked in every case."""

import re

import pytest

from grader.compare import Mismatch, close, kind, within

#: As the task says. Over batches of 1 to 256, eager attention, 1 or 2 threads and double precision,
#: none of the tiny bundle's means and moves is off by more than 1e-6.
STATES = 1e-5
#: Two states are compared in a move, and both may be off.
MOVE = 2e-5
#: A printed one may be rounded to four decimals.
PRINTED = MOVE + 5e-5
#: Printed lines and numbers that are looked at: enough for many more than the task's, too few to
#: find a move by printing every possible one.
MAX_LINES, MAX_WIDTH, MAX_NUMBERS = 200, 2000, 400

#: True, False or a number, alone or between marks; not part of a name.
_SAID = re.compile(
    r"(?<![^\W_])(?:True|False)(?![^\W_])|(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![^\W_])"
)


@pytest.mark.part(
    "mean",
    weight=3,
    hint="Set the states of the padding to zero with the mask as `[n, ids, 1]`, sum over the ids, "
    "and divide by how many real tokens each row has.",
)
def test_mean_after(student, reference):
    """`mean_pool` gives the mean over the real tokens of rows that are padded after them."""
    close(student["mean_after"], reference["mean_after"], "mean_pool", atol=STATES)


@pytest.mark.part(
    "mean",
    weight=2,
    hint="Let the mask say where the real tokens are; do not count on their being the first.",
)
def test_mean_anywhere(student, reference):
    """`mean_pool` goes by the mask also where padding stands before or between real tokens."""
    close(student["mean_anywhere"], reference["mean_anywhere"], "mean_pool", atol=STATES)


@pytest.mark.part(
    "mean", hint="The mean of one state is that state: no token is left out, wherever it stands."
)
def test_mean_single(student, reference):
    """`mean_pool` gives the one real token's state where a row has no other."""
    close(student["mean_single"], reference["mean_single"], "mean_pool", atol=STATES)


@pytest.mark.part(
    "mean",
    weight=2,
    hint="Turn the mask into the kind that your formula needs, `mask.to(hidden.dtype)` or "
    "`mask.bool()`, before anything is done with it.",
)
def test_mean_kinds(student, reference, credit):
    """`mean_pool` takes masks of booleans and of floating point."""
    for sort in ("boolean", "floating"):
        with credit.item():
            name = f"mean_{sort}"
            close(student[name], reference[name], f"mean_pool, {sort} mask", atol=STATES)


@pytest.mark.part(
    "mean", hint="One row gives `[1, hidden]`: `squeeze()` without an axis drops the row as well."
)
def test_mean_one_row(student, reference):
    """`mean_pool` gives a matrix of one row for a batch of one row."""
    close(student["mean_one_row"], reference["mean_one_row"], "mean_pool", atol=STATES)


@pytest.mark.part(
    "encode",
    hint="A list of one text gives `[1, hidden]`. `[CLS]` and `[SEP]` count, and the encoder stays "
    "in evaluation mode.",
)
def test_encode_one(student, reference):
    """`encode_queries` gives the mean of the last states of a text alone."""
    close(student["encode_one"], reference["encode_one"], "encode_queries", atol=STATES)


@pytest.mark.part(
    "encode",
    weight=3,
    hint="Give the encoder the whole batch, `model(**batch)`, so that no token attends to padding, "
    "and average with the same attention mask.",
)
def test_encode_beside(student, reference):
    """`encode_queries` gives short queries the same vectors beside long ones, in their order."""
    close(student["encode_beside"], reference["encode_beside"], "encode_queries", atol=STATES)


@pytest.mark.part(
    "encode",
    weight=2,
    hint="A row for each text, in the order of the list, those of the last, smaller batch too.",
)
def test_encode_many(student, reference):
    """`encode_queries` gives all rows of a list that fills several batches, in their order."""
    mine, theirs = _dict(student["encode_many"], "encode_queries"), reference["encode_many"]
    if mine.get("shape") != theirs["shape"]:
        raise Mismatch(
            f"encode_queries: expected shape {theirs['shape']}, got {mine.get('shape')!s:.60}"
        )
    close(mine.get("rows"), theirs["rows"], "encode_queries", atol=STATES)
    close(mine.get("last"), theirs["last"], "encode_queries, the last rows", atol=STATES)


@pytest.mark.part(
    "encode", hint="`truncation=True, max_length=64`: without the second, BERT's own limit holds."
)
def test_encode_long(student, reference):
    """`encode_queries` cuts a long text at 64 ids."""
    close(student["encode_long"], reference["encode_long"], "encode_queries", atol=STATES)


@pytest.mark.part(
    "move",
    weight=3,
    hint="One batch for all texts, padded to the longest. Call the encoder with `input_ids` and "
    "`attention_mask`, then with `input_ids` alone; take the difference at the real tokens only, "
    "its absolute value, and of that the largest entry.",
)
def test_move(student, reference, credit):
    """`unmasked_move` gives the largest change of an entry of a real token's last state."""
    mine = _dict(student["moves"], "unmasked_move")
    for name, theirs in reference["moves"].items():
        with credit.item():
            within(mine.get(name), theirs, f"unmasked_move, {name}", MOVE)


@pytest.mark.part(
    "move",
    hint="Pad to the longest of the texts and no further, and keep the encoder in evaluation mode, "
    "or two passes differ for another reason.",
)
def test_move_without_padding(student, reference, credit):
    """`unmasked_move` is 0 where no text is padded."""
    mine = _dict(student["still"], "unmasked_move")
    for name, theirs in reference["still"].items():
        with credit.item():
            within(mine.get(name), theirs, f"unmasked_move, {name}", MOVE)


@pytest.mark.part(
    "pooler",
    hint="Take the last states of a masked pass at position 0 and put them through the weight and "
    "bias of `model.pooler.dense`, then `torch.tanh`.",
)
def test_pooler(student, reference):
    """`pooler` gives the encoder's `pooler_output`, a row for each text in their order."""
    close(student["pooled"], reference["pooled"], "pooler", atol=STATES)


@pytest.mark.part(
    "pooler",
    hint="Use `model.pooler.dense` itself: `pooler_output` and `model.pooler(...)` give zeros "
    "here. A long text is cut at 64 ids.",
)
def test_pooler_rebuilt(student, reference):
    """`pooler` is rebuilt from the weights: it holds with the encoder's own switched off."""
    close(student["pooled_by_weights"], reference["pooled_by_weights"], "pooler", atol=STATES)


@pytest.mark.part(
    "lines",
    hint="`torch.allclose(..., rtol=0, atol=1e-5)`, printed first; False says that something above "
    "is amiss.",
)
def test_line_alone(student, reference):
    """Printed first: that queries alone and together agree within 1e-5, True, and they do."""
    for name in ("queries_alone", "queries_together"):
        close(student[name], reference[name], "encode_queries(queries)", atol=STATES)
    before, _ = _truths(_said(student.lines), reference)
    if True not in before:
        raise Mismatch(f"expected True before the move, got {_told(before)}")


@pytest.mark.part("lines", hint="Print `unmasked_move(queries)`, with four decimals.")
def test_line_move(student, reference):
    """Printed: how far real tokens of the queries move without a mask, to four decimals."""
    found = _said(student.lines)
    if _place(found, reference) is None:
        printed = [said for said in found if not isinstance(said, bool)]
        raise Mismatch(f"expected {reference['queries_moved']:.4f}, got {_told(printed)}")


@pytest.mark.part(
    "lines",
    hint="Compare `pooler(queries)` with `model(**batch).pooler_output` of the same queries, and "
    "print whether they agree, last.",
)
def test_line_pooler(student, reference):
    """Printed last: that the rebuilt pooler equals the encoder's own, True, and it does."""
    close(student["queries_pooled"], reference["queries_pooled"], "pooler(queries)", atol=STATES)
    _, after = _truths(_said(student.lines), reference)
    if True not in after:
        raise Mismatch(f"expected True after the move, got {_told(after)}")


def _dict(value, what):
    """An answer by name."""
    if not isinstance(value, dict):
        raise Mismatch(f"{what}: expected answers by name, got {kind(value)}")
    return value


def _said(lines):
    """The truth values and numbers that are printed, in order."""
    text = "\n".join(line[:MAX_WIDTH] for line in lines[:MAX_LINES])
    found = [match[0] for match in _SAID.finditer(text)][:MAX_NUMBERS]
    return [word == "True" if word in ("True", "False") else float(word) for word in found]


def _place(found, reference):
    """Where the move stands among what is printed, None where it does not."""
    for i, said in enumerate(found):
        if not isinstance(said, bool) and abs(said - reference["queries_moved"]) <= PRINTED:
            return i
    return None


def _truths(found, reference):
    """The truth values before the move and after it; the first and the last where it is not so."""
    place, truths = _place(found, reference), _only(found)
    if place is not None:
        before, after = _only(found[:place]), _only(found[place:])
        if (before and after) or len(truths) < 2:
            return before, after
    return truths[:1], truths[1:][-1:]


def _only(found):
    """The truth values among what is printed."""
    return [said for said in found if isinstance(said, bool)]


def _told(found):
    """What is printed, in short."""
    return ", ".join(map(str, found[:5])) or "nothing of the kind"
