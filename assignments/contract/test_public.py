"""The checks of `contract`, asked in every case."""

import re
from itertools import combinations

import pytest

from grader.bands import band
from grader.compare import Mismatch, close, kind, numbers, within

#: How far an entry of `head` may be off, and a mean top probability that such a head gives.
TRAINED, PROBABILITY = band("trained"), band("probability")
#: The fraction of a head's entries that may be further off: Adam divides a gradient by its size, so
#: where it is next to zero the last bits of a sum decide which way a weight goes.
APART = 0.05
#: How many rows an accuracy of a head that was trained may be off.
ROWS = band("rows")
#: Half a unit of the fourth decimal, to which a number may have been rounded, and a little; the
#: same of the third.
ROUNDED, THREE = 6e-5, 5.1e-4
#: Printed lines that are looked at, how many in a row may hold what one should, and how many
#: numbers such a stretch may have to say something.
MAX_LINES, TOGETHER, MAX_NUMBERS = 200, 4, 16


@pytest.mark.part(
    "contract",
    weight=2,
    hint="Column 0 of `ids` is to be `tokenizer.cls_token_id`, and the id in each row's own last "
    "real column, which the mask tells, `tokenizer.sep_token_id`; give back one True or False.",
)
def test_tokenized(student, reference, credit):
    """What the tokenizer gives keeps the contract, word ids break it."""
    mine, theirs = student["contract"], reference["contract"]
    for kept in ("tokenized queries", "one query", "pairs of texts"):
        with credit.item():
            _same_verdicts(mine, theirs, kept, "word ids")


@pytest.mark.part(
    "contract",
    weight=2,
    hint="Each row has to keep the contract, not the first alone and not just any: `.all()`.",
)
def test_every_row(student, reference, credit):
    """One row that breaks the contract, wherever it stands, is enough."""
    mine, theirs = student["contract"], reference["contract"]
    for broken in theirs:
        if "row" in broken:
            with credit.item():
                _same_verdicts(mine, theirs, "tokenized queries", broken)


@pytest.mark.part(
    "head",
    hint="Go through the recipe in its order, with `F` and `Y`: the seed before the head is made; "
    "one generator for all epochs; a new permutation each epoch; every batch of 32, the last one "
    "too; gradients set to zero before each step.",
)
def test_head(student, reference):
    """`head` is the one that the recipe leads to on the kept training features."""
    mine, theirs = student["head"], reference["head"]
    for entries in ("weight", "bias"):
        shape, expected = (_of(one, f"{entries} shape", "head") for one in (mine, theirs))
        if shape != expected:
            raise Mismatch(f"the head's {entries}: expected shape {expected}, got {shape!r:.60}")
        close(
            _of(mine, entries, "head"),
            theirs[entries],
            f"the head's {entries}",
            atol=TRAINED,
            apart=APART,
        )


@pytest.mark.part(
    "confidence",
    hint="A row is right where the largest logit is at its label; take the mean over all rows at "
    "once, not of the means of batches that differ in size.",
)
def test_accuracy(student, reference, credit):
    """The first that `confidence` gives is the accuracy of the head that it is handed."""
    _same_confidence(student["confidence"], reference["confidence"], 0, "accuracy", credit)


@pytest.mark.part(
    "confidence",
    weight=2,
    hint="`softmax(1)` over the classes, then the largest of each row, right or not, then the mean "
    "over the rows. Features are the mean over the real ids alone, by the encoder as `load()` "
    "gives it.",
)
def test_top_probability(student, reference, credit):
    """The second that `confidence` gives is the mean of each row's largest probability."""
    theirs = reference["confidence"]
    _same_confidence(student["confidence"], theirs, 1, "mean top probability", credit)


@pytest.mark.part(
    "results",
    hint='"right" takes the ids that `tokenizer` gives for `val`, "wrong" those of `val_set`, with '
    "a mask that is 1 where a word id is not 0; both take `head` and the labels of `val`.",
)
def test_results(student, reference, credit):
    """`results` has accuracy and mean top probability by right and by wrong ids."""
    mine, theirs = student["results"], reference["results"]
    for name in theirs:
        for i, (what, allowed) in enumerate(_allowed(reference).items()):
            with credit.item():
                found = _number(mine, name, i, "results")
                within(found, theirs[name][i], f"results, {name}: {what}", allowed)


@pytest.mark.part(
    "lines",
    hint='Print `results["right"]`, the accuracy to four decimals and the probability to three, '
    "and what `from_tokenizer` says of the tokenizer's own ids and mask.",
)
def test_line_right(student, reference):
    """Printed of the right ids: accuracy, mean top probability, True."""
    _is_printed(student.lines, reference, "right", "true")


@pytest.mark.part(
    "lines", hint="The same of the word ids and their mask, which `from_tokenizer` is to turn away."
)
def test_line_wrong(student, reference):
    """Printed of the wrong ids: accuracy, mean top probability, False."""
    _is_printed(student.lines, reference, "wrong", "false")


def _same_verdicts(mine, theirs, kept, broken):
    """Of a batch that keeps the contract and one that breaks it the right thing is said.

    Both count together: whoever says the same of every batch has tested nothing.
    """
    for name in (kept, broken):
        said, expected = _of(mine, name, "from_tokenizer"), theirs[name]
        if isinstance(said, bool | int | float) and said in (0, 1):
            said = bool(said)
        if not isinstance(said, bool):
            told = repr(said)[:200] if isinstance(said, str) else kind(said)
            raise Mismatch(f"{name}: expected {expected}, got {told}")
        if said != expected:
            raise Mismatch(f"{name}: expected {expected}, got {said}")


def _of(answer, name, what):
    """One entry of an answer by its name."""
    if not isinstance(answer, dict):
        raise Mismatch(f"{what}: expected answers by name, got {kind(answer)}")
    if name not in answer:
        raise Mismatch(f"{what}: there is no {name!r}")
    return answer[name]


def _number(answer, name, i, what):
    """One of the two numbers of an entry."""
    pair = _of(answer, name, what)
    if not isinstance(pair, list) or len(pair) != 2:
        raise Mismatch(f"{what}, {name}: expected [accuracy, mean top probability]")
    return pair[i]


def _same_confidence(mine, theirs, i, what, credit):
    """One of the two numbers agrees for each batch, with the rounding that is allowed."""
    for name in theirs:
        with credit.item():
            found = _number(mine, name, i, "confidence")
            within(found, theirs[name][i], f"{name}: {what}", ROUNDED)


def _allowed(reference):
    """How far the two numbers may be off that a trained head gives."""
    rows = ROWS / reference["sizes"]["val"]
    return {"accuracy": rows + ROUNDED, "mean top probability": PROBABILITY + ROUNDED}


def _is_printed(lines, reference, name, verdict):
    """The two numbers stand in this order, others perhaps between, and one verdict with them."""
    accuracy, probability = reference["results"][name]
    near, _ = _allowed(reference).values()
    for text in _stretches(lines):
        found = [one / 100 if 1 < one <= 100 else one for one in numbers(text)]
        said = {word for word in re.findall(r"\w+", text.lower()) if word in ("true", "false")}
        if said != {verdict} or len(found) > MAX_NUMBERS:
            continue
        for first, second in combinations(found, 2):
            if abs(first - accuracy) <= near and abs(second - probability) <= PROBABILITY + THREE:
                return
    shown = f"{accuracy:.4f} {probability:.3f} {verdict.title()}"
    raise Mismatch(f"{name} ids: expected {shown} in a line, no printed line has them")


def _stretches(lines):
    """Each printed line, then each few in a row, since one print for each number will do too."""
    lines = lines[:MAX_LINES]
    for size in range(1, TOGETHER + 1):
        for i in range(len(lines) - size + 1):
            yield " ".join(lines[i : i + size])
