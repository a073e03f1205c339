"""The checks of `layers`, asked in every case."""

import re
from itertools import pairwise

import pytest

from grader.bands import band
from grader.compare import Mismatch, close, kind, number, numbers, same_set, within

#: How far an entry of a view may be off, as the task says. Over batches of 16 to 256, rows sorted
#: by length, eager attention and 1 or 2 threads, none of the tiny bundle moved by more than 2.4e-6.
FEATURES = 1e-5
#: How far an entry of a head may be off, given the same features; known mistakes move some by 1e-2.
HEADS = band("heads")
#: How many rows an accuracy of the student's own heads may be off.
ROWS = band("rows")
#: Half a unit of the fourth decimal, to which an accuracy may have been rounded, and a little.
ROUNDED = 6e-5
#: Lines that are looked at: enough for many prints more than the task's.
MAX_LINES = 200


@pytest.mark.part(
    "views",
    hint="L is the number of layers, `config.num_hidden_layers`: there are L + 1 means, the one "
    "before the first layer included, and two more views.",
)
def test_view_names(student, reference):
    """`views(df)` gives a dict with the names `mean 0` to `mean L`, `cls L` and `pooler`."""
    same_set(list(student["views"]), list(reference["views"]), "names of the views")


@pytest.mark.part(
    "views",
    weight=4,
    hint="`hidden_states[0]` is what goes into the first layer, `hidden_states[i]` what comes out "
    "of layer i. A mean counts the real tokens only, `cls L` is position 0 of the last layer, "
    "`pooler` is `pooler_output`. The encoder stays in evaluation mode, the rows in their order.",
)
def test_views(student, reference, credit):
    """Each view of other queries is right to 1e-5, `[queries, hidden]`, row by row in order."""
    for name, theirs in reference["views"].items():
        with credit.item():
            _same_view(student["views"], name, theirs, "views")


@pytest.mark.part(
    "views", hint="`batches` cuts a query at 64 ids; a tokenizer of your own has to be told to."
)
def test_views_of_a_long_query(student, reference, credit):
    """A query of more than 64 ids is cut at 64, as `batches` does."""
    for name, theirs in reference["long_query"].items():
        with credit.item():
            _same_view(student["long_query"], name, theirs, "views of a long query")


@pytest.mark.part("fit", hint="The head is an `nn.Linear` from the hidden width to the intents.")
def test_head_shape(student, reference):
    """`fit(F, Y)` gives a head with `weight` `[intents, hidden]` and `bias` `[intents]`."""
    mine, theirs = student["fit"][0], reference["fit"][0]
    for what in ("weight shape", "bias shape"):
        if mine[what] != theirs[what]:
            raise Mismatch(f"the head's {what}: expected {theirs[what]}, got {mine[what]}")


@pytest.mark.part(
    "fit",
    weight=4,
    hint="Go through the recipe in its order: the seed before the head is made; one generator for "
    "all epochs, seeded once in each call; a new permutation each epoch; every batch of 32, the "
    "last one too; gradients set to zero before each step.",
)
def test_head(student, reference):
    """The head that `fit` trains on given features is the one that the recipe leads to."""
    mine, theirs = student["fit"][0], reference["fit"][0]
    close(mine["weight"], theirs["weight"], "the head's weight", atol=HEADS)
    close(mine["bias"], theirs["bias"], "the head's bias", atol=HEADS)


@pytest.mark.part(
    "fit", hint="Seed inside `fit`, both torch and the generator, so that every call starts alike."
)
def test_head_again(student, reference):
    """Called again with the same features and labels, `fit` gives the same head."""
    first, again = student["fit"]
    for what in ("weight", "bias"):
        if first[f"{what} shape"] != reference["fit"][0][f"{what} shape"]:
            raise Mismatch(f"the head's {what} has another shape")
        if not bool(first[what].isfinite().all()):
            raise Mismatch(f"the head's {what} is not finite")
        close(again[what], first[what], f"the {what} of the second head", atol=HEADS)


@pytest.mark.part(
    "score", hint="The share of rows whose largest logit is at their label, between 0 and 1."
)
def test_score(student, reference, credit):
    """`score(head, X, y)` is the fraction of rows that a given head gets right."""
    for i, what in enumerate(("two of three rows right", "all rows right")):
        with credit.item():
            within(student["score"][i], reference["score"][i], f"score, {what}", ROUNDED)


@pytest.mark.part(
    "choice",
    hint="`T` is `views(train)`, `V` is `views(val)`; `Y` and `Z` are their labels in the same "
    "order.",
)
def test_data(student, reference, credit):
    """`T` and `V` hold the views of the training and validation queries, `Y` and `Z` the labels."""
    for name in ("Y", "Z"):
        with credit.item():
            _same_labels(student[name], reference[name], name)
    for name in ("T", "V"):
        for view, theirs in reference[name].items():
            with credit.item(1 / len(reference[name])):
                _same_view(student[name], view, theirs, name)


@pytest.mark.part(
    "choice",
    hint="A head of its own for every view, trained on `T` and `Y`, scored on `V` and `Z`.",
)
def test_scores(student, reference, credit):
    """`heads` has a head for each view, `scores` its accuracy on the validation queries."""
    with credit.item():
        same_set(student["heads"], list(reference["scores"]), "names of the heads")
    for name, theirs in reference["scores"].items():
        with credit.item():
            if name not in student["scores"]:
                raise Mismatch(f"scores: there is no {name!r}")
            mine = student["scores"][name]
            within(mine, theirs, f"scores[{name!r}]", _off(reference, "val"))


@pytest.mark.part(
    "choice", hint="`max(scores, key=scores.get)`: neither training nor test queries choose."
)
def test_chosen(student, reference):
    """`chosen` is the view with the best validation accuracy; of equally good ones any will do.

    Best by the student's own scores, so that an error in another view is not met again here.
    """
    chosen, scores = student["chosen"], student["scores"]
    same_set(list(scores), list(reference["scores"]), "names of the scores")
    mine = {name: _fraction(number(value, f"scores[{name!r}]")) for name, value in scores.items()}
    band = _off(reference, "val")
    if all(abs(mine[name] - theirs) > band for name, theirs in reference["scores"].items()):
        raise Mismatch("chosen: none of the scores that it was chosen by is right")
    if chosen not in mine:
        raise Mismatch(f"chosen: expected the name of a view, got {chosen!r:.60}")
    best = max(mine.values())
    if mine[chosen] < best - 1e-9:
        raise Mismatch(
            f"chosen: {chosen} scores {mine[chosen]:.4f} on the validation queries, the best view "
            f"{best:.4f}"
        )


@pytest.mark.part("lines", hint="Print `list(T)` and `T['mean 0'].shape` before anything else.")
def test_line_names(student, reference):
    """The names of the views are printed, and the shape of `mean 0`."""
    names = list(reference["scores"])
    lines = student.lines[:MAX_LINES]
    rows, hidden = reference["T"]["mean 0"]["shape"]
    for i, line in enumerate(lines):
        if all(_names(line, name) for name in names):
            found = numbers(line + " " + " ".join(lines[i + 1 : i + 2]))
            if (rows, hidden) in pairwise(found):
                return
            raise Mismatch(f"no shape ({rows}, {hidden}) is printed with the names of the views")
    raise Mismatch(f"no printed line has all the names {', '.join(names)}")


@pytest.mark.part(
    "lines", hint="One line for each view: its name, then training and validation accuracy."
)
def test_line_accuracies(student, reference, credit):
    """A line for each view: its name, the training and the validation accuracy of its head."""
    for name, val in reference["scores"].items():
        train = reference["accuracies"]["train"][name]
        with credit.item():
            _accuracies(student.lines[:MAX_LINES], name, train, val, reference)


@pytest.mark.part(
    "lines", hint="`torch.allclose(..., atol=1e-5)`; False says that something above is amiss."
)
def test_line_equal(student, reference):
    """It is printed that `mean L` equals the kept features `F` within 1e-5: True, and it does."""
    last = [name for name in reference["T"] if name.startswith("mean ")][-1]
    _same_view(student["T"], last, reference["T"][last], "T")
    words = {word for line in student.lines[:MAX_LINES] for word in re.findall(r"\w+", line)}
    if "True" not in words or "False" in words:
        raise Mismatch(f"expected True, got {'False' if 'False' in words else 'no such line'}")


@pytest.mark.part(
    "lines",
    hint="Once the validation queries have chosen, print `chosen` and the accuracy of its head on "
    "the test queries; no other view is scored on them.",
)
def test_line_test(student, reference):
    """The view that was chosen is printed with its accuracy on the test queries, and no other."""
    lines, chosen = student.lines[:MAX_LINES], student["chosen"]
    accuracies, band = reference["accuracies"]["test"], _off(reference, "test")
    if chosen not in accuracies:
        raise Mismatch(f"chosen: expected the name of a view, got {chosen!r:.60}")
    tested = [name for name in accuracies if _tested(lines, name, accuracies, band)]
    if chosen not in tested:
        raise Mismatch(f"no line of its own has {chosen} and its accuracy on the test queries")
    if len(tested) > 1:
        raise Mismatch(f"{len(tested)} views were scored on the test queries, not {chosen} alone")


def _same_view(found, name, theirs, what):
    """A view has the reference's shape, and its picked rows are the reference's."""
    if name not in found:
        raise Mismatch(f"{what}: there is no {name!r}")
    mine = found[name]
    if "shape" not in mine:
        raise Mismatch(f"{what}, {name}: expected a tensor, got a {mine['kind']}")
    if mine["shape"] != theirs["shape"]:
        raise Mismatch(f"{what}, {name}: expected shape {theirs['shape']}, got {mine['shape']}")
    close(mine["rows"], theirs["rows"], f"{what}, {name}", atol=FEATURES)


def _same_labels(mine, theirs, what):
    """Two lists of whole numbers agree."""
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


def _off(reference, rows):
    """How far an accuracy may be off: so many rows, or 0.001 where a row is less."""
    return max(0.001, ROWS / reference["sizes"][rows]) + ROUNDED


def _fraction(accuracy):
    """An accuracy that may have been given in percent."""
    return accuracy / 100 if accuracy > 1 else accuracy


def _names(line, name):
    """Whether a name stands in a line, as words of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) is not None


def _numbers_after(line, name):
    """The numbers of a line besides its name; None where it does not name that view."""
    rest, count = re.subn(rf"(?<!\w){re.escape(name)}(?!\w)", " ", line, count=1)
    return numbers(rest) if count else None


def _tested(lines, name, accuracies, band):
    """Whether a view's test accuracy is printed: on a line after its own of the table, or in it."""
    table = True  # the first line with the name and two numbers is the table's
    for i, line in enumerate(lines):
        found = _numbers_after(line, name)
        if found is None or all(_names(line, other) for other in accuracies):
            continue
        if not found and i + 1 < len(lines):  # the name alone, its accuracy on the next line
            found = numbers(lines[i + 1])
        if table and len(found) >= 2:
            table, found = False, found[2:]
        if found and abs(_fraction(found[-1]) - accuracies[name]) <= band:
            return True
    return False


def _accuracies(lines, name, train, val, reference):
    """A line names the view and has its training and validation accuracy, in this order."""
    closest = None
    for line in lines:
        found = _numbers_after(line, name)
        if (
            found is None
            or len(found) < 2
            or all(_names(line, other) for other in reference["scores"])
        ):
            continue
        mine = [_fraction(value) for value in found[:2]]
        errors = [abs(mine[0] - train), abs(mine[1] - val)]
        if errors[0] <= _off(reference, "train") and errors[1] <= _off(reference, "val"):
            for value, rows in zip(mine, ("train", "val"), strict=True):
                _four_decimals(value, reference["sizes"][rows], name)
            return
        if closest is None or sum(errors) < closest[0]:
            closest = (sum(errors), " ".join(f"{value:g}" for value in found[:2]))
    got = (
        f"the closest line has {closest[1]}" if closest else "no line has its name and two numbers"
    )
    raise Mismatch(f"{name}: expected the accuracies {train:.4f} {val:.4f}; {got}")


def _four_decimals(value, rows, name):
    """An accuracy is a number of rows divided by all; to fewer decimals it is no longer one."""
    if abs(value - round(value * rows) / rows) > ROUNDED:
        raise Mismatch(f"{name}: expected accuracies to four decimals or more, got {value:g}")
