"""The checks of `random_bert`, asked in every case."""

import re
from itertools import combinations

import pytest

from grader.bands import band
from grader.compare import Mismatch, close, equal, numbers, within

#: As the task says. Over threads, batches of 16 to 256, queries sorted by length and eager
#: attention features move by less than 1e-6.
FEATURES = 1e-5
#: On given features, 331 for training and 4,001 for validation, so many rows may change sides; the
#: rest is the rounding of four decimals.
TRAINED, VALIDATED = (band("fit") / rows + 0.00005 for rows in (331, 4001))
#: Printed accuracies, as published for all of Banking77, where 0.002 already lets other recipes
#: pass. Where a row is more, the two of a line may be so many rows off together.
ACCURACY, ROWS = 0.0010, band("rows")
#: A printed mean cosine: half a unit of the third decimal and a little. No band can be made of what
#: is rounded so far; features that move by 1e-6 move it by no more than about that.
COSINE = 0.00051
#: Printed lines that are looked at, and how many of them in a row may hold what one should.
MAX_LINES = 200
TOGETHER = 3
#: A stretch of output with more numbers than this says nothing in particular.
MAX_NUMBERS = 16

RECIPE = (
    "Seed torch inside `fit`, right before the head is made; one generator for all 30 epochs, "
    "seeded anew in each call; zero the gradients before each step; keep the last, smaller batch."
)


@pytest.mark.part("models", hint="`load()` gives the pretrained encoder, ready for use.")
def test_pretrained(student, reference):
    """`pretrained` is the encoder that `load()` gives."""
    _same_states(student["pretrained"], reference["pretrained"], "pretrained")


@pytest.mark.part(
    "models",
    weight=2,
    hint="`torch.manual_seed(42)` and, with nothing between, `AutoModel.from_config(...)`; "
    "`from_pretrained` would load the trained weights again.",
)
def test_random(student, reference):
    """`random` holds the weights that are drawn after `torch.manual_seed(42)`."""
    mine, trained = student["random"]["states"], reference["pretrained"]["states"]
    if mine.shape == trained.shape and float((mine - trained).abs().max()) <= FEATURES:
        raise Mismatch("random: it computes what the pretrained encoder does: the same weights")
    _same_states(student["random"], reference["random"], "random")


@pytest.mark.part("models", hint="Build `random` from `pretrained.config`, unchanged.")
def test_configuration(student, reference, credit):
    """Both encoders are of one class and configuration, with as many parameters."""
    for name in ("pretrained", "random"):
        for fact in ("class", "parameters", "config"):
            with credit.item():
                equal(student[name][fact], reference[name][fact], f"{name}, {fact}")


@pytest.mark.part(
    "models",
    hint="`.eval()` switches dropout off; an encoder built from its configuration starts in "
    "training mode.",
)
def test_evaluation_mode(student, credit):
    """Both encoders are in evaluation mode when the script ends."""
    for name in ("pretrained", "random"):
        with credit.item():
            if count := student[name]["training"]:
                raise Mismatch(f"{name}: {count} of its modules are in training mode")


@pytest.mark.part(
    "features",
    weight=3,
    hint="Sum the last hidden states over the real tokens only and divide by how many those are: "
    "`pooled` does. Neither padding nor the order of the rows may change a query's features.",
)
def test_features_pretrained(student, reference):
    """`features` gives the masked mean of short and long queries, by the pretrained encoder."""
    _same_rows(student["features_pretrained"], reference["features_pretrained"], "features")


@pytest.mark.part(
    "features",
    weight=2,
    hint="Use the argument `model` inside `features`, not an encoder of the script.",
)
def test_features_random(student, reference):
    """`features` uses the encoder that it is handed, here one with random weights."""
    _same_rows(student["features_random"], reference["features_random"], "features")


@pytest.mark.part(
    "features",
    weight=2,
    hint="A row for each query, in the frame's order, those of the last, smaller batch too.",
)
def test_features_many(student, reference):
    """`features` gives all rows of a frame that fills several batches, in their order."""
    mine, theirs = student["features_many"], reference["features_many"]
    _same_rows(mine, theirs, "features")
    close(mine["last"], theirs["last"], "features, the last rows", atol=FEATURES)


@pytest.mark.part(
    "features", hint="`batches` cuts at 64 ids, [CLS] and [SEP] counted; so must a tokenizer call."
)
def test_features_long(student, reference):
    """`features` cuts a long query at 64 ids."""
    _same_rows(student["features_long"], reference["features_long"], "features")


@pytest.mark.part("fit", hint=RECIPE)
def test_training_accuracy(student, reference):
    """The first that `fit` returns is the accuracy on the training features, here given ones."""
    within(student["fit"][0], reference["fit"][0], "training accuracy", TRAINED)


@pytest.mark.part(
    "fit", hint="Measure the second accuracy on `G` and `Z`, with the head as trained. " + RECIPE
)
def test_validation_accuracy(student, reference):
    """The second that `fit` returns is the accuracy on the validation features, here given ones."""
    within(student["fit"][1], reference["fit"][1], "validation accuracy", VALIDATED)


@pytest.mark.part("encoded", hint="`F` is `features(random, train)`, all rows in their order.")
def test_training_features(student, reference):
    """`F` holds the random encoder's features of the training queries."""
    _same_sample(student["F"], reference["F"], "F")


@pytest.mark.part("encoded", hint="`G` is `features(random, val)`, all rows in their order.")
def test_validation_features(student, reference):
    """`G` holds the random encoder's features of the validation queries."""
    _same_sample(student["G"], reference["G"], "G")


@pytest.mark.part(
    "lines",
    hint="`type(random).__name__`, the sum of `p.numel()`, `torch.equal` of the embeddings.",
)
def test_line_models(student, reference):
    """Printed: the class, how many parameters it has, whether the word embeddings are equal."""
    name, count = reference["random"]["class"], reference["random"]["parameters"]
    for model in ("pretrained", "random"):  # what is printed must be true of the script's own
        equal(student[model]["class"], name, f"{model}, class")
        equal(student[model]["parameters"], count, f"{model}, parameters")
    for text in _stretches(student.lines):
        words = re.findall(r"\w+", text.lower())
        whole = re.sub(r"(?<=\d)[,_'](?=\d{3}(?!\d))", "", text)
        said = name.lower() in words and count in numbers(whole)
        if said and "false" in words and "true" not in words:
            return
    raise Mismatch(f"expected {name} {count} False in a line, no printed line has them")


@pytest.mark.part(
    "lines",
    hint="Training accuracy, validation accuracy, mean cosine: normalize each row of the training "
    "features, and take the mean of all n x n products.",
)
def test_line_pretrained(student, reference):
    """Printed: the pretrained encoder's two accuracies and mean cosine."""
    _has_results(student.lines, reference, "pretrained")


@pytest.mark.part(
    "lines", hint="The same three numbers as for the pretrained encoder, in the same way."
)
def test_line_random(student, reference):
    """Printed: the random encoder's two accuracies and mean cosine."""
    _has_results(student.lines, reference, "random")


def _same_states(mine, theirs, what):
    close(mine["states"], theirs["states"], f"{what}, last hidden states", atol=FEATURES)


def _same_rows(mine, theirs, what):
    equal(mine["shape"], theirs["shape"], f"{what}, shape")
    close(mine["rows"], theirs["rows"], what, atol=FEATURES)


def _same_sample(mine, theirs, what):
    _same_rows(mine, theirs, what)
    close(mine["columns"], theirs["columns"], f"{what}, the first columns", atol=FEATURES)


def _stretches(lines):
    """Each printed line, then each few in a row, since one print for each number will do too."""
    lines = lines[:MAX_LINES]
    for size in range(1, TOGETHER + 1):
        for i in range(len(lines) - size + 1):
            yield " ".join(lines[i : i + size])


def _has_results(lines, reference, what):
    """The two accuracies and the cosine stand somewhere in this order, others perhaps between."""
    *accuracies, cosine = reference["results"][what]
    sizes = [reference[name]["shape"][0] for name in ("F", "G")]
    for text in _stretches(lines):
        found = numbers(text)
        if len(found) > MAX_NUMBERS:
            continue
        for *mine, last in combinations(found, 3):
            if abs(last - cosine) <= COSINE and _rows_off(mine, accuracies, sizes) <= ROWS:
                return
    shown = "{:.4f} {:.4f} {:.3f}".format(*accuracies, cosine)
    raise Mismatch(f"{what}: expected {shown} in a line, no printed line has them")


def _rows_off(mine, theirs, sizes):
    """By how many rows accuracies are off together."""
    errors = [abs(a - b) for a, b in zip(mine, theirs, strict=True)]
    return sum(
        max(1, round(error * size))
        for error, size in zip(errors, sizes, strict=True)
        if error > ACCURACY
    )
