"""The checks of `bert_tour` that are asked in hidden cases alone."""

import pytest

from grader.compare import Mismatch, close, number


@pytest.mark.part(
    "counts",
    weight=3,
    hint="The same count for every row of the table: each size has its own layers, width, heads "
    "and width inside.",
)
def test_other_counts(student, reference, credit):
    """`count_parameters` gives how many parameters tiny, mini, small and medium have."""
    for size in ("tiny", "mini", "small", "medium"):
        with credit.item():
            mine, theirs = student[f"count_{size}"], reference[f"count_{size}"]
            found = number(mine, f"count_parameters({size!r})")
            if found != theirs:
                raise Mismatch(f"count_parameters({size!r}): expected {theirs:,}, got {found:,.0f}")


@pytest.mark.part(
    "word",
    hint="A piece in front of one that begins with `##` is the start of a longer word: look at the "
    "next piece too.",
)
def test_word_vector_begun(student, reference, credit):
    """`word_vector` passes over a longer word of which the word asked for is the first piece."""
    mine, theirs = student["word_vector_begun"], reference["word_vector_begun"]
    for name, vector in theirs.items():
        with credit.item():
            found = mine.get(name) if isinstance(mine, dict) else None
            word = name.partition(" ")[2]
            close(found, vector, f"word_vector of {word!r}", atol=1e-5)


@pytest.mark.part(
    "word",
    hint="`raise ValueError(...)` with the word in the message, also where the word stands past "
    "the cut only, or is only the first piece of a longer one.",
)
def test_word_not_there(student, reference, credit):
    """A word past the 64th id, or that only begins a longer one, is a ValueError that names it."""
    for probe, what in (("word_cut_off", "past the cut"), ("word_begun", "only begun")):
        with credit.item():
            found = student[probe] if isinstance(student[probe], dict) else {}
            if found.get("raised") != reference[probe]["raised"]:
                raise Mismatch(f"a word {what}: expected a ValueError, got none")
            if found.get("named") is not True:
                raise Mismatch(f"a word {what}: the message of the ValueError does not name it")
