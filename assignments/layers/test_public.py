"""The checks of `layers`, asked in every case."""

import re
from dataclasses import dataclass
from itertools import combinations, pairwise

import pytest

from grader.bands import band
from grader.compare import Mismatch, close, kind, number, numbers, same_set, within

#: How far an entry of a view may be off, as the task says. Over batches of 16 to 256, rows sorted
#: by length, eager attention and 1 or 2 threads, none of the tiny bundle moved by more than 2.4e-6.
FEATURES = 1e-5
#: How far an entry of a head may be off that was trained on features that are exactly the same, and
#: of one trained on the views, which are not.
HEADS, TRAINED = band("heads"), band("trained")
#: The fraction of a head's entries that may be further off: Adam divides a gradient by its size, so
#: where it is next to zero the last bits of a sum decide which way a weight goes.
APART = 0.05
#: How many rows an accuracy may be off, and all accuracies of the table together.
ROWS = band("rows")
#: An accuracy may be off by this much where a row is less, as published for all of Banking77.
ACCURACY = 0.0010
#: Half a unit of the fourth decimal, to which an accuracy may have been rounded, and a little.
ROUNDED = 6e-5
#: The same of the third decimal.
THREE = 6e-4
#: Lines that are looked at: enough for many prints more than the task's.
MAX_LINES = 200
#: So many numbers of a line are looked at.
MAX_NUMBERS = 16


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
    _same_weights(mine, theirs, "the head", HEADS)


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
    _same_weights(again, first, "the second head", HEADS)


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
    """`heads` has the head of each view, `scores` its accuracy on the validation queries."""
    with credit.item():
        same_set(list(student["heads"]), list(reference["heads"]), "names of the heads")
    for name, theirs in reference["scores"].items():
        with credit.item():
            for what in ("heads", "scores"):
                if name not in student[what]:
                    raise Mismatch(f"{what}: there is no {name!r}")
            what = f"heads[{name!r}]"
            _same_weights(student["heads"][name], reference["heads"][name], what, TRAINED)
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
    """The names of the views are printed, and the shape of `mean 0`.

    In a line or in a line each, the shape near the names or in each of their lines.
    """
    names, shape = list(reference["scores"]), tuple(reference["T"]["mean 0"]["shape"])
    lines = student.lines[:MAX_LINES]
    shaped = [line for line in lines if shape in pairwise(_beside(line, names))]
    if all(any(_names(line, name) for line in shaped) for name in names):
        return
    together = [i for i, line in enumerate(lines) if all(_names(line, name) for name in names)]
    if not together:
        raise Mismatch(f"no printed line has all the names {', '.join(names)}")
    near = [line for i in together for line in lines[max(0, i - 2) : i + 3]]
    if shape not in pairwise(found for line in near for found in _beside(line, names)):
        raise Mismatch(f"no shape {shape} is printed with the names of the views")


@pytest.mark.part(
    "lines", hint="One line for each view: its name, then training and validation accuracy."
)
def test_line_accuracies(student, reference, credit):
    """A line for each view: its name, the training and the validation accuracy of its head."""
    lines = _by_view(student.lines, reference)
    found = {name: _entry(lines, name, reference) for name in reference["scores"]}
    off = {name: _rows_off(entry, name, reference) for name, entry in found.items()}
    for name, entry in found.items():
        with credit.item():
            if off[name] and sum(off.values()) > ROWS:
                raise Mismatch(_told(entry, name, reference))


@pytest.mark.part(
    "lines", hint="`torch.allclose(..., atol=1e-5)`; False says that something above is amiss."
)
def test_line_equal(student, reference):
    """It is printed that `mean L` equals the kept features `F` within 1e-5: True, and it does."""
    last = [name for name in reference["T"] if name.startswith("mean ")][-1]
    _same_view(student["T"], last, reference["T"][last], "T")
    words = {word for line in student.lines[:MAX_LINES] for word in re.findall(r"\w+", line)}
    if "True" not in words:
        raise Mismatch(f"expected True, got {'False' if 'False' in words else 'no such line'}")


@pytest.mark.part(
    "lines",
    hint="Once the validation queries have chosen, print `chosen` and the accuracy of its head on "
    "the test queries; no other view is scored on them.",
)
def test_line_test(student, reference):
    """The view that was chosen is printed with its accuracy on the test queries, and no other.

    A number in another view's line may be near its test accuracy by chance; where most views have
    one, they were scored.
    """
    lines, chosen = _by_view(student.lines, reference), student["chosen"]
    names = list(reference["scores"])
    if chosen not in names:
        raise Mismatch(f"chosen: expected the name of a view, got {chosen!r:.60}")
    if not _tested(lines, chosen, reference, below=2):
        raise Mismatch(f"no line has {chosen} and its accuracy on the test queries")
    tested = [name for name in names if name == chosen or _tested(lines, name, reference, below=0)]
    if 2 * len(tested) > len(names):
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


def _same_weights(mine, theirs, what, band):
    """All but a few entries of a head's sampled weights, and of its bias, are the reference's."""
    for entries in ("weight", "bias"):
        told = f"the {entries} of {what}"
        close(mine[entries], theirs[entries], told, atol=band, apart=APART)


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
    """How far an accuracy may be off."""
    return max(ACCURACY, ROWS / reference["sizes"][rows]) + ROUNDED


def _fraction(accuracy):
    """An accuracy that may have been given in percent."""
    return accuracy / 100 if accuracy > 1 else accuracy


@dataclass(frozen=True)
class _Line:
    """A printed line: the views that it names, some but not all, and the numbers beside them."""

    names: frozenset[str]
    numbers: list[float]


@dataclass(frozen=True)
class _Entry:
    """Where a view's two accuracies stand: which line, and which two of its numbers."""

    line: int
    places: tuple[int, int]
    accuracies: tuple[float, float]  # as they are printed


def _pattern(name):
    return rf"(?<!\w){re.escape(name)}(?!\w|\.\d)"


def _names(line, name):
    """Whether a name stands in a line, as words of its own."""
    return re.search(_pattern(name), line) is not None


def _beside(line, names):
    """The numbers of a line besides those of names."""
    for name in names:
        line = re.sub(_pattern(name), " ", line)
    return numbers(line)[:MAX_NUMBERS]


def _by_view(lines, reference):
    """What each printed line says of the views; a line with all names says nothing of one."""
    names, found = list(reference["scores"]), []
    for line in lines[:MAX_LINES]:
        here = frozenset(name for name in names if _names(line, name))
        found.append(_Line(frozenset() if len(here) == len(names) else here, _beside(line, names)))
    return found


def _right(name, reference):
    """A view's training and validation accuracy."""
    return reference["accuracies"]["train"][name], reference["scores"][name]


def _entry(lines, name, reference):
    """The two numbers in lines with a view's name that come nearest to its accuracies, in order."""
    entries = [
        _Entry(i, (j, k), (line.numbers[j], line.numbers[k]))
        for i, line in enumerate(lines)
        if name in line.names
        for j, k in combinations(range(len(line.numbers)), 2)
    ]
    right = _right(name, reference)

    def far(entry):
        return sum(abs(_fraction(a) - b) for a, b in zip(entry.accuracies, right, strict=True))

    return min(entries, key=far, default=None)


def _rows_off(entry, name, reference):
    """How many queries a view's two accuracies are off together; endless where they are not there.

    An accuracy is a number of queries divided by all; to fewer than four decimals it is none.
    """
    off = 0
    if entry is None:
        return float("inf")
    for mine, theirs, rows in zip(
        entry.accuracies, _right(name, reference), ("train", "val"), strict=True
    ):
        mine, size = _fraction(mine), reference["sizes"][rows]
        if abs(mine - theirs) > ACCURACY + ROUNDED:
            off += max(1, round(abs(mine - theirs) * size))
        if abs(mine - round(mine * size) / size) > ROUNDED:
            off = float("inf")
    return off


def _told(entry, name, reference):
    """What was expected of a view's line, and what is there."""
    expected = "{}: expected the accuracies {:.4f} {:.4f}".format(name, *_right(name, reference))
    if entry is None:
        return f"{expected}; no line has its name and two numbers"
    return "{}; the closest line has {:g} {:g}".format(expected, *entry.accuracies)


def _tested(lines, name, reference, below):
    """Whether a view's test accuracy is printed in a line with its name, or so many lines below.

    The two numbers that come nearest to its other accuracies are those, whatever they are. Where
    nothing below counts, they are so in other lines too, such as those of a ranking, and a number
    must be the accuracy itself: it is held against who printed it.
    """
    entry, right = _entry(lines, name, reference), reference["accuracies"]["test"][name]
    allowed = _off(reference, "test") if below else ACCURACY + ROUNDED
    known = [_fraction(one) for one in entry.accuracies] if entry and not below else []
    for i, line in enumerate(lines):
        if name not in line.names:
            continue
        taken = entry.places if entry and entry.line == i else ()
        found = [number for j, number in enumerate(line.numbers) if j not in taken]
        for other in lines[i + 1 : i + 1 + below]:
            if other.names:
                break
            found += other.numbers
        for one in map(_fraction, found):
            again = any(abs(one - other) <= THREE for other in known)
            if abs(one - right) <= allowed and not again:
                return True
    return False
