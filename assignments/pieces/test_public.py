"""The checks of `pieces`, asked in every case."""

import re

import pytest

from grader.compare import Mismatch, numbers, same_set, within

#: Lines that are looked at: enough for a few prints more than the task's three.
MAX_LINES = 20


@pytest.mark.part(
    "words", hint="Go through `vocab` and leave out `<pad>` and `<unk>`; keep each word once."
)
def test_words(student, reference):
    """`words` holds every word of the vocabulary and neither of the two reserved entries."""
    same_set(student["words"], reference["words"], "words")


@pytest.mark.part(
    "pieces",
    weight=2,
    hint="`tokenizer.tokenize(word)` gives a word's pieces, without special tokens; keep the `##`.",
)
def test_pieces(student, reference):
    """`pieces` gives each word the list of its pieces, spelled as the tokenizer spells them."""
    mine, theirs = student["pieces"], reference["pieces"]
    missing = [word for word in theirs if word not in mine]
    if missing:
        raise Mismatch(f"pieces: {len(missing)} words have none, such as {missing[0]!r}")
    wrong = [word for word in theirs if mine[word] != theirs[word]]
    if wrong:
        word = wrong[0]
        raise Mismatch(
            f"pieces: {len(wrong)} of {len(theirs)} words are cut otherwise, such as {word!r}: "
            f"expected {theirs[word]}, got {mine[word]}"
        )


@pytest.mark.part("pieces", hint="A word stays whole when its list of pieces has one entry.")
def test_whole(student, reference):
    """`whole` is how many of the words stay one piece."""
    within(student["whole"], reference["whole"], "whole", band=0)


@pytest.mark.part(
    "counts", hint="Add up `len(tokenize(text))` over `train['text']`, every occurrence counted."
)
def test_n_words(student, reference):
    """`n_words` is how many words all the training queries have together."""
    within(student["n_words"], reference["n_words"], "n_words", band=0)


@pytest.mark.part(
    "counts", hint="`tokenizer.tokenize(text)` adds no [CLS] and [SEP]; `tokenizer(text)` does."
)
def test_n_pieces(student, reference):
    """`n_pieces` is how many pieces all the training queries have, special tokens left out."""
    within(student["n_pieces"], reference["n_pieces"], "n_pieces", band=0)


@pytest.mark.part(
    "lines", hint="Print one line for each of the three points in the task, in its order."
)
def test_lines(student, reference, credit):
    """Three lines are printed: word counts, the five words cut most, and the ratio."""
    lines = student.lines[:MAX_LINES]
    total, whole = len(reference["words"]), reference["whole"]
    n_words, n_pieces = reference["n_words"], reference["n_pieces"]
    with credit.item():
        _printed(lines, [total, whole, total - whole], "line 1: words, whole, cut")
    with credit.item():
        _most_cut(lines, reference["pieces"])
    with credit.item():
        ratio = round(n_pieces / n_words, 3)
        _printed(lines, [n_words, n_pieces, ratio], "line 3: words, pieces, ratio")


def _printed(lines, expected, what):
    """One of the lines has exactly these numbers; a ratio may have more than three decimals."""
    for line in lines:
        found = numbers(line)
        if len(found) == len(expected) and all(
            abs(mine - theirs) <= (0.0005 if isinstance(theirs, float) else 0)
            for mine, theirs in zip(found, expected, strict=True)
        ):
            return
    shown = " ".join(str(number) for number in expected)
    raise Mismatch(f"{what}: expected the numbers {shown}, no printed line has them")


def _most_cut(lines, pieces):
    """Some lines in a row name five of the words with the most pieces, each with its pieces."""
    counts = sorted((len(cut) for cut in pieces.values()), reverse=True)[:5]
    tokens = re.findall(r"[^\s,;:'\"()\[\]{}=|>]+", " ".join(lines))
    named = {t for t in tokens if len(pieces.get(t, ())) >= counts[-1] and _follows(tokens, pieces[t])}
    found = sorted((len(pieces[word]) for word in named), reverse=True)
    if found != counts:
        raise Mismatch(
            f"line 2: expected five words of {counts} pieces, each with its pieces; "
            f"found {len(named)} such words"
        )


def _follows(tokens, cut):
    """Whether the pieces stand in the tokens one after another."""
    return any(tokens[i : i + len(cut)] == cut for i in range(len(tokens)))
