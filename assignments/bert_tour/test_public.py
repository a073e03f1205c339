"""The checks of `bert_tour`, asked in every case."""

import re

import pytest

from grader.compare import Mismatch, close, equal, number, numbers

#: As the task says. Over 1 and 2 threads, batches of 1 to 256, texts sorted by length and eager
#: attention states move by less than 3e-6.
STATES = 1e-5
#: A printed cosine: half a unit of the third decimal and a little.
COSINE = 0.00051
#: Printed lines that are looked at, and how many in a row may hold the two cosines.
MAX_LINES, TOGETHER = 200, 3
#: A stretch of output with more numbers than this says nothing in particular.
MAX_NUMBERS = 16


@pytest.mark.part(
    "counts",
    weight=2,
    hint="Set layers, width, heads and the width inside as the table has them, and count every "
    "parameter of a `BertModel`: its pooler too, and no head for pretraining.",
)
def test_count(student, reference, credit):
    """`count_parameters` gives how many parameters base and large have."""
    for size in ("base", "large"):
        with credit.item():
            _same_count(student[f"count_{size}"], reference[f"count_{size}"], size)


@pytest.mark.part(
    "counts", hint='`if size not in SIZES: raise ValueError(f"no size {size!r}")`, or the like.'
)
def test_unknown_size(student, reference, credit):
    """For a size that is not in the table a ValueError is raised that names it."""
    _same_error(student["unknown_size"], reference["unknown_size"], "an unknown size", credit)


@pytest.mark.part(
    "cls",
    weight=3,
    hint="Position 0 of `last_hidden_state`, by an encoder in evaluation mode that is given the "
    "attention mask along with the ids.",
)
def test_cls_vector(student, reference):
    """`cls_vector` gives the last state of [CLS] of short and long texts that share a batch."""
    _same_rows(student["cls_vector"], reference["cls_vector"])


@pytest.mark.part(
    "cls", weight=2, hint="A row for each text, those of a last, smaller batch too, in their order."
)
def test_cls_vector_many(student, reference):
    """`cls_vector` gives a row for each of many texts, in their order."""
    mine, theirs = student["cls_vector_many"], reference["cls_vector_many"]
    _same_rows(mine, theirs)
    close(_entry(mine, "last"), theirs["last"], "cls_vector, the last rows", atol=STATES)


@pytest.mark.part(
    "cls", hint="`truncation=True, max_length=64` in the call of the tokenizer cuts as asked."
)
def test_cls_vector_long(student, reference):
    """`cls_vector` cuts a long text at 64 ids."""
    _same_rows(student["cls_vector_long"], reference["cls_vector_long"])


@pytest.mark.part(
    "embedding",
    weight=2,
    hint="Add the rows of three tables: `word_embeddings` by id, `position_embeddings` by position "
    "from 0, `token_type_embeddings` by segment. Then normalize, with the `LayerNorm` beside them.",
)
def test_input_embedding(student, reference):
    """`input_embedding` gives the normalized sum of three rows for each id, `[n, k, hidden]`."""
    close(student["input_embedding"], reference["input_embedding"], "input_embedding", atol=STATES)


@pytest.mark.part("embedding", hint="Positions go from 0 to k - 1, and nothing is cut.")
def test_input_embedding_long(student, reference):
    """`input_embedding` takes as many ids as the encoder has positions, 512."""
    mine, theirs = student["input_embedding_long"], reference["input_embedding_long"]
    close(mine, theirs, "input_embedding of 512 ids", atol=STATES)


@pytest.mark.part(
    "word",
    weight=3,
    hint="Look the word up among the pieces of the whole sentence, [CLS] at its head counted, and "
    "take the last layer's state at that position.",
)
def test_word_vector(student, reference, credit):
    """`word_vector` gives the last state of a word among words that are one piece each."""
    _same_vectors(student["word_vector"], reference["word_vector"], credit)


@pytest.mark.part(
    "word",
    weight=2,
    hint="The number of a word is not that of its piece: marks are pieces too, and a rare word is "
    "several. `tokenizer.convert_ids_to_tokens(ids)` lists what stands where.",
)
def test_word_vector_later(student, reference, credit):
    """`word_vector` finds a word behind marks and a word that is cut into pieces."""
    _same_vectors(student["word_vector_later"], reference["word_vector_later"], credit)


@pytest.mark.part("word", hint="Compare whole pieces: `the` is in `other`, and no word there.")
def test_word_vector_inside(student, reference, credit):
    """`word_vector` is not misled by a longer word that holds the one asked for."""
    _same_vectors(student["word_vector_inside"], reference["word_vector_inside"], credit)


@pytest.mark.part("word", hint="Where a word stands twice, the first time counts.")
def test_word_vector_twice(student, reference, credit):
    """`word_vector` takes the first of two occurrences."""
    _same_vectors(student["word_vector_twice"], reference["word_vector_twice"], credit)


@pytest.mark.part(
    "word", hint="The pieces are in small letters, whatever the sentence has: `word.lower()`."
)
def test_word_vector_case(student, reference, credit):
    """`word_vector` finds a word in whatever letter case."""
    _same_vectors(student["word_vector_case"], reference["word_vector_case"], credit)


@pytest.mark.part("word", hint="The sentence is cut at 64 ids before it is encoded.")
def test_word_vector_long(student, reference, credit):
    """`word_vector` cuts a long sentence at 64 ids."""
    _same_vectors(student["word_vector_long"], reference["word_vector_long"], credit)


@pytest.mark.part(
    "word",
    weight=2,
    hint="`raise ValueError(...)` with the word in the message: where no piece is the word, and "
    "where the tokenizer makes several of it.",
)
def test_word_errors(student, reference, credit):
    """A word that is absent, or there in several pieces, is a ValueError that names it."""
    for probe, what in (("word_absent", "an absent word"), ("word_in_pieces", "a word in pieces")):
        _same_error(student[probe], reference[probe], what, credit)


@pytest.mark.part("lines", hint='Print `count_parameters("base")` and `count_parameters("large")`.')
def test_line_counts(student, reference):
    """The numbers of parameters of base and of large are printed."""
    printed = "\n".join(student.lines[:MAX_LINES])
    whole = re.sub(r"(?<=\d)[,_' \u00a0\u2009\u202f](?=\d{3}(?!\d))", "", printed)
    found = {*numbers(printed), *numbers(whole)}
    for size in ("base", "large"):
        count = reference[f"count_{size}"]
        _same_count(student[f"count_{size}"], count, size)  # what is printed must be so
        if count not in found:
            raise Mismatch(f"expected the number of parameters of {size}, no printed line has it")


@pytest.mark.part(
    "lines",
    hint="Take the first two training queries for which `word_vector(query, 'the')` raises "
    "nothing. `torch.cosine_similarity(a, b, dim=0)` of the two vectors, then of the rows of "
    "`model.get_input_embeddings().weight`.",
)
def test_line_cosines(student, reference):
    """The cosine of the vectors of `the` in two queries is printed, and of its two embeddings."""
    wanted = reference["cosines"]
    for stretch in _stretches(student.lines[:MAX_LINES]):
        found = numbers(stretch)
        if len(found) <= MAX_NUMBERS and all(_near(found, cosine) for cosine in wanted):
            return
    shown = " and ".join(f"{cosine:.3f}" for cosine in wanted)
    raise Mismatch(f"expected the cosines {shown}, no printed line has them")


def _same_count(mine, theirs, size):
    """A whole number is the reference's."""
    found = number(mine, f"count_parameters({size!r})")
    if found != theirs:
        raise Mismatch(
            f"count_parameters({size!r}): expected {theirs:,}, got {found:,.0f} "
            f"({found - theirs:+,.0f})"
        )


def _same_error(mine, theirs, what, credit):
    """A ValueError was raised, and its message names what was asked for."""
    found = mine if isinstance(mine, dict) else {}
    with credit.item():
        if "raised" not in found:
            raise Mismatch(f"{what}: expected a ValueError, got {_told(found.get('returned'))}")
        if found["raised"] != theirs["raised"]:
            raise Mismatch(f"{what}: expected a ValueError, got a {_told(found['raised'])}")
    with credit.item():
        if found.get("raised") == theirs["raised"] and found.get("named") is not True:
            raise Mismatch(f"{what}: the message of the ValueError does not name it")
        if found.get("raised") != theirs["raised"]:
            raise Mismatch(f"{what}: there is no ValueError to name it")


def _told(name):
    return f"{name:.60}" if isinstance(name, str) else "something else"


def _entry(found, name):
    """What a dict has by a name, None where it is no dict or has no such name."""
    return found.get(name) if isinstance(found, dict) else None


def _same_rows(mine, theirs):
    equal(_entry(mine, "shape"), theirs["shape"], "cls_vector, shape")
    close(_entry(mine, "rows"), theirs["rows"], "cls_vector", atol=STATES)


def _same_vectors(mine, theirs, credit):
    """Each word has the reference's vector."""
    for name, vector in theirs.items():
        with credit.item():
            word = name.partition(" ")[2]
            close(_entry(mine, name), vector, f"word_vector of {word!r}", atol=STATES)


def _stretches(lines):
    """Each printed line, then each few in a row."""
    for size in range(1, TOGETHER + 1):
        for i in range(len(lines) - size + 1):
            yield " ".join(lines[i : i + size])


def _near(found, cosine):
    return any(abs(number - cosine) <= COSINE for number in found)
