"""The checks of `contract` that are asked in hidden cases alone."""

import pytest

from grader.compare import Mismatch, kind

#: What each rule is tried with: a batch that keeps the contract, and those that break it. Both
#: count together: whoever says the same of every batch has tested nothing.
LEFT = {"tokenized": ("pads on the left", "pads on the left in one row")}
SHORT = {
    "an empty text alone": ("[CLS] alone", "[SEP] alone"),
    "an empty text among others": (
        "[CLS] alone among others",
        "nothing but padding",
        "no real id",
        "no real id, alone",
    ),
    "no rows": ("no columns",),
    "no rows, one column": ("no columns, one row",),
}
TABLE = {
    "last id of the table": (
        "an id past the table",
        "an id below 0",
        "padding past the table",
    ),
    "last id of the table in two rows": (
        "an id past the table in the last row",
        "an id below 0 in the last row",
        "padding below 0",
    ),
}
OTHER = {
    "tokenized": (
        "another tokenizer's [CLS] and [SEP]",
        "another tokenizer's, one row",
        "word ids after [CLS]",
        "word ids, first row the tokenizer's",
    ),
    "pairs": ("[SEP] inside alone", "[SEP] inside alone in one row"),
}
MASKS = {
    "tokenized": (
        "a mask without [SEP]",
        "a mask without [SEP] in the longest row",
        "a mask with a pad",
        "a mask of ones alone",
        "masks of two rows exchanged",
        "a mask with a gap",
        "a mask with a gap in the last row",
        "a mask without [CLS]",
        "a mask without [CLS] in any row",
    )
}


@pytest.mark.part(
    "contract", hint="Column 0 has to be real and [CLS], not the first real id wherever it stands."
)
def test_pads_on_the_left(student, reference, credit):
    """A row with its padding on the left breaks the contract."""
    _told(student, reference, credit, LEFT)


@pytest.mark.part(
    "contract",
    weight=2,
    hint="Think of what is left of each line of yours where a row has one real id, or none, and "
    "where there are no rows or no columns.",
)
def test_short_rows(student, reference, credit):
    """Rows of one real id or none, batches without rows or columns: an answer for each."""
    _told(student, reference, credit, SHORT)


@pytest.mark.part(
    "contract",
    weight=2,
    hint="Every id of the batch, padding too: at least 0 and less than `len(tokenizer)`.",
)
def test_table(student, reference, credit):
    """An id past the table or below 0 breaks the contract, the table's last does not."""
    _told(student, reference, credit, TABLE)


@pytest.mark.part(
    "contract",
    weight=2,
    hint="The numbers of [CLS] and [SEP] are the tokenizer's; [SEP] has to be a row's last real "
    "id, whatever stands before it, in every row.",
)
def test_other_vocabularies(student, reference, credit):
    """Ids of other vocabularies break the contract, even if some rows or columns look right."""
    _told(student, reference, credit, OTHER)


@pytest.mark.part(
    "contract",
    weight=2,
    hint="Which ids are real the mask says, not the ids; its ones have to stand together from "
    "column 0 on.",
)
def test_wrong_masks(student, reference, credit):
    """A mask that does not fit its ids breaks the contract."""
    _told(student, reference, credit, MASKS)


def _told(student, reference, credit, batches):
    """Each pair of a batch that keeps the contract and one that breaks it is told apart."""
    mine, theirs = student["edges"], reference["edges"]
    for kept, breaking in batches.items():
        for broken in breaking:
            with credit.item():
                for name in (kept, broken):
                    _same_verdict(mine, theirs[name], name)


def _same_verdict(mine, expected, name):
    said = mine.get(name) if isinstance(mine, dict) else None
    if isinstance(said, bool | int | float) and said in (0, 1):
        said = bool(said)
    if not isinstance(said, bool):
        told = repr(said)[:200] if isinstance(said, str) else kind(said)
        raise Mismatch(f"{name}: expected {expected}, got {told}")
    if said != expected:
        raise Mismatch(f"{name}: expected {expected}, got {said}")
