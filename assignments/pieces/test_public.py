"""The checks of `pieces`, asked in every case."""

import itertools
import re

import pytest

from grader.compare import Mismatch, numbers, same_kind, same_set, within

#: What is looked at of the output: enough for labels and a good many lines more than the task's
#: three, too little to find a number by printing every possible one.
MAX_LINES, MAX_WIDTH, MAX_NUMBERS = 40, 2000, 100


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
    same_kind(mine, theirs, "pieces")
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
    "counts",
    hint="Add up `len(tokenizer.tokenize(text))` over `train['text']`: each query at a stretch, "
    "not its words one by one, and not `tokenizer(text)`, which adds [CLS] and [SEP].",
)
def test_n_pieces(student, reference):
    """`n_pieces` is how many pieces all the training queries have, special tokens left out."""
    within(student["n_pieces"], reference["n_pieces"], "n_pieces", band=0)


@pytest.mark.part(
    "lines", hint="Print one line for each of the three points in the task, in its order."
)
def test_lines(student, reference, credit):
    """Three lines are printed: word counts, the five words cut most, and the ratio."""
    lines = [_plain(line) for line in student.lines[:MAX_LINES]]
    total, whole = len(reference["words"]), reference["whole"]
    n_words, n_pieces = reference["n_words"], reference["n_pieces"]
    with credit.item():
        _printed(lines, [total, whole, total - whole], "line 1: words, whole, cut")
    with credit.item():
        _most_cut(lines, reference["pieces"])
    with credit.item():
        _printed(lines, [n_words, n_pieces, n_pieces / n_words], "line 3: words, pieces, ratio")


def _plain(line):
    """A line without colour codes and its overlong end."""
    return re.sub(r"\x1b\[[\d;]*m", "", line)[:MAX_WIDTH]


def _printed(lines, expected, what):
    """These numbers are printed one after another; a ratio to three decimals or more."""
    text = "\n".join(lines)
    without_commas = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text)  # 111,243 or 111_243
    if not any(_follow(expected, _numbers(reading)) for reading in (text, without_commas)):
        shown = " ".join(f"{n:.3f}" if isinstance(n, float) else str(n) for n in expected)
        raise Mismatch(f"{what}: expected the numbers {shown}, they are not printed in a row")


def _numbers(text):
    """The numbers of a text, without percentages and digits in names such as `np.int64`."""
    return numbers(re.sub(r"(?<![\d.])[\d.]+ ?%|[^\W\d]\w*", " ", text))[:MAX_NUMBERS]


def _follow(expected, found):
    """Whether the expected numbers are among those found, one right after another."""
    size = len(expected)
    return any(
        all(
            abs(mine - theirs) <= (0.0005 + 1e-9 if isinstance(theirs, float) else 0)
            for mine, theirs in zip(found[i : i + size], expected, strict=True)
        )
        for i in range(len(found) - size + 1)
    )


def _most_cut(lines, pieces):
    """Lines in a row name five of the words cut most, with their pieces, and no other cut word."""
    cut = {word: parts for word, parts in pieces.items() if len(parts) > 1}
    wanted = sorted(map(len, cut.values()), reverse=True)[:5]

    def words_in(text):
        return cut.keys() & re.findall(r"(?<![\w#])\w+(?![\w#])", text)

    told = [line for line in lines if re.search(r"\w", line)]
    groups = itertools.groupby(told, lambda line: "##" in line or bool(words_in(line)))
    blocks = ["\n".join(group) for tells, group in groups if tells]
    named = [[word for word in words_in(text) if _stand(cut[word], text)] for text in blocks]
    if not any(sorted((len(cut[w]) for w in some), reverse=True) == wanted for some in named):
        most = max(named, key=len, default=[])
        raise Mismatch(
            f"line 2: expected five words, of {wanted} pieces, each with its pieces; "
            f"found {len(most)} cut words with theirs: {', '.join(sorted(most)[:8]) or 'none'}"
        )


def _stand(parts, text):
    """Whether a word's pieces stand in the text one after another, whatever separates them."""
    row = r"[^\w#]*".join(map(re.escape, parts))
    return re.search(rf"(?<![\w#]){row}(?![\w#])", text) is not None
