"""The checks of `frozen_head`, asked in every case."""

from itertools import combinations

import pytest

from grader.bands import band
from grader.compare import Mismatch, close, equal, kind, number, numbers, within

#: As the task says. Over threads, batches of 16 to 256, queries sorted by length and eager
#: attention features move by less than 3e-6.
FEATURES = 1e-5
#: How far an entry of a head may be off that was trained on features that are exactly the same, and
#: of one trained on the script's features, which are not.
HEADS, TRAINED = band("heads"), band("trained")
#: The fraction of a head's entries that may be further off: Adam divides a gradient by its size, so
#: where it is next to zero the last bits of a sum decide which way a weight goes.
APART = 0.05
#: A query counts where the reference's two largest logits are so far apart: there another head that
#: learned the same, if not by the recipe, says so too, and its mistake is not met again here.
MARGIN = 0.4
#: Half a unit of the fourth decimal, to which an accuracy may have been rounded, and a little.
ROUNDED = 6e-5
#: A printed accuracy may be off by this much where a row is less: features that are computed again
#: for it may move one across.
ACCURACY = 0.0010
#: Half a unit of the third decimal, to which a cosine may have been rounded, and a little. No band
#: can be made of what is rounded so far; features that move by 1e-6 move it by about that.
COSINE = 0.00051
#: Printed lines that are looked at, and how many of them in a row may hold what one should.
MAX_LINES = 200
TOGETHER = 3
#: A stretch of output with more numbers than this says nothing in particular.
MAX_NUMBERS = 16


@pytest.mark.part(
    "frozen",
    weight=2,
    hint="Let the optimizer have the head's parameters alone, and keep `model` as `load` gives it.",
)
def test_weights_as_loaded(student, reference):
    """`model` computes, when all is done, what the encoder computes that `load()` gives."""
    mine = _entry(student["model"], "states", "model")
    close(mine, reference["model"]["states"], "model, last hidden states", atol=FEATURES)


@pytest.mark.part(
    "frozen", hint="`load` gives an encoder in evaluation mode; `model.train()` turns dropout on."
)
def test_evaluation_mode(student):
    """`model` is in evaluation mode when all is done."""
    if count := number(_entry(student["model"], "training", "model"), "modules in training mode"):
        raise Mismatch(f"model: {count:.0f} of its modules are in training mode")


@pytest.mark.part(
    "frozen", hint="Encode inside `with torch.no_grad():`, or under `@torch.no_grad()`."
)
def test_no_gradients(student):
    """What `features` gives needs no gradient."""
    if student["gradients"] is not False:
        raise Mismatch("features: what it gives needs a gradient (`requires_grad` is True)")


@pytest.mark.part(
    "features",
    weight=3,
    hint="Sum the last hidden states over the real tokens only and divide by how many those are: "
    "`pooled` does. Neither padding nor the other rows of a batch may change a query's features.",
)
def test_features(student, reference):
    """`features` gives the masked mean of the last layer, of short queries beside long ones."""
    _same_rows(student["features"], reference["features"], "features")


@pytest.mark.part(
    "features",
    hint="A row for each query, in the frame's order, those of the last, smaller batch too.",
)
def test_features_of_many(student, reference):
    """`features` gives all rows of a frame that fills several batches, in their order."""
    mine, theirs = student["features_many"], reference["features_many"]
    _same_rows(mine, theirs, "features")
    last = _entry(mine, "last", "features")
    close(last, theirs["last"], "features, the last rows", atol=FEATURES)


@pytest.mark.part(
    "features", hint="`batches` cuts at 64 ids, [CLS] and [SEP] counted; so must a tokenizer call."
)
def test_features_of_a_long_query(student, reference):
    """`features` cuts a query of more than 64 ids there."""
    _same_rows(student["features_long"], reference["features_long"], "features")


@pytest.mark.part(
    "features", hint="`squeeze` takes away every axis of length one, also that of a single query."
)
def test_features_of_one_query(student, reference):
    """`features` of a frame with a single row are `[1, hidden]`."""
    _same_rows(student["features_one"], reference["features_one"], "features")


@pytest.mark.part("head", hint="The head is an `nn.Linear` from the hidden width to the intents.")
def test_head_shape(student, reference):
    """`train_head(F, Y)` gives a head with `weight` `[intents, hidden]` and `bias` `[intents]`."""
    _same_shapes(_first(student["train_head"]), reference["train_head"][0])


@pytest.mark.part(
    "head",
    weight=4,
    hint="Go through the recipe in its order: the seed before the head is made; one generator for "
    "all epochs, seeded once in each call; a new permutation each epoch; every batch of 32, the "
    "last one too; gradients set to zero before each step; logits into `loss_fn`.",
)
def test_head_by_the_recipe(student, reference):
    """The head that `train_head` trains on given features is the one that the recipe leads to."""
    _same_weights(_first(student["train_head"]), reference["train_head"][0], "the head", HEADS)


@pytest.mark.part(
    "head",
    hint="Seed inside `train_head`, both torch and the generator, so that every call starts alike.",
)
def test_head_again(student, reference):
    """Called again with the same features and labels, `train_head` gives the same head."""
    mine = student["train_head"]
    first = _first(mine)
    _same_shapes(first, reference["train_head"][0])
    for what in ("weight", "bias"):
        entries = _entry(first, what, "the head")
        close(entries, entries.nan_to_num(0.0, 0.0, 0.0), f"the head's {what}")  # finite
    _same_weights(mine[1] if len(mine) > 1 else None, first, "the second head", HEADS)


@pytest.mark.part(
    "score", hint="The share of rows whose largest logit is at their label, between 0 and 1."
)
def test_score(student, reference, credit):
    """`score(head, X, y)` is the fraction of rows that a given head gets right."""
    for i, what in enumerate(("two of three rows right", "all rows right")):
        with credit.item():
            mine = student["score"]
            mine = mine[i] if isinstance(mine, list) and i < len(mine) else None
            within(mine, reference["score"][i], f"score, {what}", ROUNDED)


@pytest.mark.part(
    "cached",
    weight=2,
    hint="`F` is `features(train)`, `G` is `features(val)`; `Y` and `Z` are their labels in the "
    "same order, as `labels` gives them.",
)
def test_data(student, reference, credit):
    """`F` and `G` hold the training and validation features, `Y` and `Z` the labels."""
    for name in ("F", "G"):
        with credit.item():
            _same_sample(student[name], reference[name], name)
    for name in ("Y", "Z"):
        with credit.item():
            _same_labels(student[name], reference[name], name)


@pytest.mark.part(
    "cached", hint="`head` is `train_head(F, Y)`: no other rows, and no second round."
)
def test_head_of_the_script(student, reference):
    """`head` is the head that the recipe leads to on the training queries."""
    _same_shapes(student["head"], reference["head"])
    _same_weights(student["head"], reference["head"], "head", TRAINED)


@pytest.mark.part(
    "predict",
    weight=3,
    hint="`intents[i]` is the name of class i, for a Python number i. Encode the query as the "
    "training queries were encoded.",
)
def test_predictions(student, reference, credit):
    """`predict(query)` gives the name of the intent that the head finds likeliest."""
    _same_intents(student, reference, credit, "predict")


@pytest.mark.part(
    "predict", hint="What is past the cut at 64 ids must not count, here as in `features`."
)
def test_prediction_of_a_long_query(student, reference, credit):
    """`predict` cuts a query at 64 ids, as the training queries were."""
    _same_intents(student, reference, credit, "predict_long")


@pytest.mark.part(
    "cosines",
    hint="Normalize the rows of `F`. Of the products take those of rows with equal labels, without "
    "the diagonal, and their plain mean.",
)
def test_same(student, reference):
    """`same` is the mean cosine over all pairs of two training queries of one intent."""
    within(student["same"], reference["same"], "same", COSINE)


@pytest.mark.part(
    "cosines",
    hint="Normalize the rows of `F`. Of the products take those of rows whose labels differ, and "
    "their plain mean.",
)
def test_different(student, reference):
    """`different` is the mean cosine over all pairs of training queries of different intents."""
    within(student["different"], reference["different"], "different", COSINE)


@pytest.mark.part(
    "lines", hint="`score(head, F, Y)`, then `score(head, G, Z)`, each with the format `.4f`."
)
def test_line_accuracies(student, reference):
    """Printed: how the script's head fares on its training and on its validation queries.

    Held against the head of the script itself, so that a mistake in it is not met again here; what
    it is scored on must be right.
    """
    for name in ("Y", "Z"):
        _same_labels(student[name], reference[name], name)
    for name in ("F", "G"):
        _same_sample(student[name], reference[name], name)
    mine = student["accuracies"]
    if not isinstance(mine, list) or len(mine) != 2:
        raise Mismatch("the accuracies of `head` cannot be told")
    right = [number(accuracy, "the accuracy of `head`") for accuracy in mine]
    sizes = [len(reference[name]) for name in ("Y", "Z")]
    allowed = [ROUNDED + (ACCURACY if 1 / size <= ACCURACY else 0) for size in sizes]
    shown = "the training and validation accuracy of `head`, {:.4f} {:.4f}".format(*right)
    _has_pair(student.lines, right, allowed, shown, percent=True)


@pytest.mark.part("lines", hint="Print `same`, then `different`, each with the format `.3f`.")
def test_line_cosines(student, reference):
    """Printed: the mean cosine within intents and the one between them."""
    right = [reference["same"], reference["different"]]
    shown = "same and different, {:.3f} {:.3f}".format(*right)
    _has_pair(student.lines, right, [COSINE, COSINE], shown)


def _entry(value, key, what):
    """An entry of an answer that should be a dict."""
    if not isinstance(value, dict) or key not in value:
        raise Mismatch(f"{what}: there is no {key} in {kind(value)}")
    return value[key]


def _first(value):
    """The first of two heads."""
    if not isinstance(value, list) or not value:
        raise Mismatch(f"the heads: expected two, got {kind(value)}")
    return value[0]


def _same_rows(mine, theirs, what):
    equal(_entry(mine, "shape", what), theirs["shape"], f"{what}, shape")
    close(_entry(mine, "rows", what), theirs["rows"], what, atol=FEATURES)


def _same_sample(mine, theirs, what):
    _same_rows(mine, theirs, what)
    columns = _entry(mine, "columns", what)
    close(columns, theirs["columns"], f"{what}, the first columns", atol=FEATURES)


def _same_shapes(mine, theirs):
    for what in ("weight shape", "bias shape"):
        equal(_entry(mine, what, "the head"), theirs[what], f"the head's {what}")


def _same_weights(mine, theirs, what, band):
    """All but a few entries of a head's sampled weights, and of its bias, are the reference's."""
    for entries in ("weight", "bias"):
        told = f"the {entries} of {what}"
        close(_entry(mine, entries, what), theirs[entries], told, atol=band, apart=APART)


def _same_labels(mine, theirs, what):
    """Two lists of whole numbers agree."""
    if not isinstance(mine, list):
        raise Mismatch(f"{what}: expected labels, got {kind(mine)}")
    if len(mine) != len(theirs):
        raise Mismatch(f"{what}: expected {len(theirs):,} labels, got {len(mine):,}")
    for value in mine:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Mismatch(f"{what}: expected labels as whole numbers, got {kind(value)}")
    off = [i for i, value in enumerate(mine) if value != theirs[i]]
    if off:
        raise Mismatch(
            f"{what}: {len(off):,} of {len(theirs):,} labels differ, the first at row {off[0]}: "
            f"expected {theirs[off[0]]}, got {mine[off[0]]}"
        )


def _same_intents(student, reference, credit, probe):
    """The intents of the queries on which the reference is sure."""
    theirs, margins = reference[probe], reference["margins"][probe]
    for i, name in enumerate(theirs):
        if margins[i] < MARGIN:
            continue
        with credit.item():
            mine = student[probe]
            mine = mine[i] if isinstance(mine, list) and i < len(mine) else None
            if not isinstance(mine, str):
                raise Mismatch(f"predict: expected the name of an intent, got {kind(mine)}")
            if mine != name:
                raise Mismatch(f"predict: expected {name!r} for query {i}, got {mine!r:.60}")


def _stretches(lines):
    """Each printed line, then each few in a row, since one print for each number will do too."""
    lines = lines[:MAX_LINES]
    for size in range(1, TOGETHER + 1):
        for i in range(len(lines) - size + 1):
            yield " ".join(lines[i : i + size])


def _has_pair(lines, right, allowed, shown, *, percent=False):
    """Two numbers stand somewhere in this order, others perhaps between."""
    for text in _stretches(lines):
        found = numbers(text)
        if len(found) > MAX_NUMBERS:
            continue
        if percent:
            found = [one / 100 if one > 1 else one for one in found]
        for pair in combinations(found, 2):
            off = [abs(a - b) for a, b in zip(pair, right, strict=True)]
            if off[0] <= allowed[0] and off[1] <= allowed[1]:
                return
    raise Mismatch(f"expected {shown}, in a line; no printed line has them")
