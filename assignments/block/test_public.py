"""The checks of `block`, asked in every case."""

import re

import pytest

from grader.compare import Mismatch, close, equal, numbers

#: As the task says.
STATES = 1e-5
#: How far a printed difference that is not next to nothing may be off: what four digits leave, or
#: three decimals.
ROUNDED, DECIMALS = 0.0006, 0.00051
#: Printed lines that are looked at, and numbers beside a word that count.
MAX_LINES = 200
MAX_NUMBERS = 16

#: What a line says, in the order in which they are asked for.
SAID = ("post_norm", "pre_norm", "encode")

MASKED = (
    "`mask[:, None, None, :]` fits the weights `[n, count, ids, ids]`: the last axis is the keys. "
    "Where it is 0, a key is left out of the softmax, rather than its score changed a little."
)


@pytest.mark.part(
    "heads",
    hint="Cut the last axis into `count` pieces, `[n, ids, count, width]`, and only then bring the "
    "heads before the ids: `view` in the wanted shape alone mixes tokens and heads.",
)
def test_heads(student, reference, credit):
    """`heads(x, count)` gives `[n, count, ids, width]`, neighbouring entries in one head."""
    mine, theirs = student["heads"], reference["heads"]
    for name, expected in theirs.items():
        with credit.item():
            close(_entry(mine, name, "heads"), expected, f"heads, {name}", atol=STATES)


@pytest.mark.part(
    "mix",
    hint="Is the score divided by the square root of the width once, and by no other size? Are the "
    "heads put back beside each other, and is the output's dense map applied?",
)
def test_mix(student, reference):
    """`mix(layer, h)` gives the self-attention of a layer where every token is real."""
    _same(student["mix"], reference["mix"], "mix")


@pytest.mark.part("mix", weight=2, hint=MASKED)
def test_mix_masked(student, reference):
    """`mix(layer, h, mask)` hides padding from the real tokens, wherever it stands."""
    _same(student["mix_masked"], reference["mix_masked"], "mix")


@pytest.mark.part(
    "mix", hint="Sizes and weights of the layer that is given: those of no other layer or model."
)
def test_mix_own(student, reference, credit):
    """`mix` is right for the first and for the last layer of the pretrained encoder."""
    _same_each(student["mix_own"], reference["mix_own"], "mix", credit)


@pytest.mark.part(
    "ffn",
    hint="Dense map, activation, dense map: the activation is the layer's own exact gelu, not its "
    "approximation by tanh, and neither residual nor norm belongs to `ffn`.",
)
def test_ffn(student, reference):
    """`ffn(layer, h)` gives the feed-forward part of a layer."""
    _same(student["ffn"], reference["ffn"], "ffn")


@pytest.mark.part("ffn", hint="The maps of the layer that is given, `intermediate` and `output`.")
def test_ffn_own(student, reference, credit):
    """`ffn` is right for the first and for the last layer of the pretrained encoder."""
    _same_each(student["ffn_own"], reference["ffn_own"], "ffn", credit)


@pytest.mark.part(
    "post_norm",
    hint="What is added is what went into the part; each norm has a weight, a bias and an `eps` of "
    "its own, and stands after the residual.",
)
def test_post_norm_one_id(student, reference):
    """`post_norm` has its residuals and norms in their places, where `mix` and `ffn` are plain."""
    _same(student["post_norm_one_id"], reference["post_norm_one_id"], "post_norm")


@pytest.mark.part("post_norm", hint="Hand the mask on to `mix`. " + MASKED)
def test_post_norm_masked(student, reference):
    """`post_norm(layer, h, mask)` gives a layer's output for the real tokens among padding."""
    _same(student["post_norm_masked"], reference["post_norm_masked"], "post_norm")


@pytest.mark.part(
    "post_norm", hint="Compare with `hidden_states`, part by part: `mix`, `ffn`, then the rest."
)
def test_post_norm_own(student, reference, credit):
    """`post_norm` gives what the first and the last layer of the pretrained encoder give."""
    _same_each(student["post_norm_own"], reference["post_norm_own"], "post_norm", credit)


@pytest.mark.part(
    "pre_norm",
    hint="What is added is what came in before the norm; the attention's norm stands before the "
    "attention, the other before the feed-forward part, none at the end.",
)
def test_pre_norm_one_id(student, reference):
    """`pre_norm` has its residuals and norms in their places, where `mix` and `ffn` are plain."""
    _same(student["pre_norm_one_id"], reference["pre_norm_one_id"], "pre_norm")


@pytest.mark.part("pre_norm", hint="Hand the mask on to `mix`. " + MASKED)
def test_pre_norm_masked(student, reference):
    """`pre_norm(layer, h, mask)` is right for the real tokens among padding."""
    _same(student["pre_norm_masked"], reference["pre_norm_masked"], "pre_norm")


@pytest.mark.part("pre_norm", hint="The weights of the layer that is given, its own norms too.")
def test_pre_norm_own(student, reference, credit):
    """`pre_norm` is right for the weights of the pretrained encoder's first and last layer."""
    _same_each(student["pre_norm_own"], reference["pre_norm_own"], "pre_norm", credit)


@pytest.mark.part(
    "encode",
    hint="Word, position and segment rows, added and normed, go into the first layer; then every "
    "layer in its order, each on what the one before it gave.",
)
def test_encode_one_id(student, reference):
    """`encode` goes from the embeddings through all layers in order, where these are plain."""
    _same(student["encode_one_id"], reference["encode_one_id"], "encode")


@pytest.mark.part(
    "encode", hint="Use the model that is given, and the batch's `attention_mask` in every layer."
)
def test_encode_random(student, reference):
    """`encode` gives the last hidden states of a model that no lesson has seen."""
    _same(student["encode_random"], reference["encode_random"], "encode")


@pytest.mark.part("encode", hint="The batch's `attention_mask` goes into every layer.")
def test_encode_queries(student, reference):
    """`encode` gives the pretrained encoder's `last_hidden_state` of short and long queries."""
    _same(student["encode_queries"], reference["encode_queries"], "encode")


@pytest.mark.part(
    "encode", hint="`token_type_ids` say which segment an id belongs to; the embeddings take them."
)
def test_encode_pairs(student, reference):
    """`encode` gives the pretrained encoder's `last_hidden_state` of pairs of queries."""
    _same(student["encode_pairs"], reference["encode_pairs"], "encode")


@pytest.mark.part(
    "lines",
    hint="The largest absolute difference over the real tokens, then whether it is at most 1e-5: "
    "True, and it is, on the first layer and on the last.",
)
def test_line_post_norm(student, reference):
    """It is printed that `post_norm` equals the first layer within 1e-5: True, and it does."""
    for name, theirs in reference["post_norm_own"].items():
        _same(_entry(student["post_norm_own"], name, "post_norm"), theirs, f"post_norm, {name}")
    _need("post_norm", student.lines, reference, "a difference of at most 1e-5 and True")


@pytest.mark.part(
    "lines",
    hint="`pre_norm` of the first layer on `hidden_states[0]`, against `hidden_states[1]`: the "
    "largest absolute difference over the real tokens, and False.",
)
def test_line_pre_norm(student, reference):
    """Printed: the largest difference of `pre_norm` from the first layer, and False."""
    _need("pre_norm", student.lines, reference, "{:.5g} and False")


@pytest.mark.part(
    "lines",
    hint="The largest absolute difference over the real tokens, after the two lines for the layer, "
    "then whether it is at most 1e-5: True, and it is.",
)
def test_line_encode(student, reference):
    """It is printed that `encode` equals the last hidden states within 1e-5: True, and it does."""
    _same(student["encode_queries"], reference["encode_queries"], "encode")
    _need("encode", student.lines, reference, "a difference of at most 1e-5 and True, after others")


def _entry(value, name, what):
    """An entry of an answer by name."""
    if not isinstance(value, dict) or name not in value:
        raise Mismatch(f"{what}: there is no answer for {name}")
    return value[name]


def _same(mine, theirs, what):
    """The shape is the reference's, and so are the states of the real tokens."""
    equal(_entry(mine, "shape", what), theirs["shape"], f"{what}, shape")
    close(_entry(mine, "states", what), theirs["states"], what, atol=STATES)


def _same_each(mine, theirs, what, credit):
    for name, expected in theirs.items():
        with credit.item():
            _same(_entry(mine, name, what), expected, f"{what}, {name} layer")


def _need(name, lines, reference, expected):
    expected = expected.format(reference["differences"]["pre_norm"])
    if name not in _said(lines, reference["differences"]["pre_norm"]):
        raise Mismatch(f"{name}: expected {expected}, no printed line has that in its place")


def _said(lines, right):
    """Which of the three are printed, in their order, others perhaps between.

    Each True or False counts with the numbers on either side of it, up to the next such word.
    """
    pieces = re.split(r"\b(true|false)\b", " \n".join(lines[:MAX_LINES]).lower())
    beside = [numbers(piece)[-MAX_NUMBERS:] for piece in pieces[::2]]
    verdicts = [(word == "true", beside[i] + beside[i + 1]) for i, word in enumerate(pieces[1::2])]
    best = [frozenset()]  # of all verdicts so far, by how many of SAID may have been used up
    best *= len(SAID) + 1
    for is_true, near in verdicts:
        for i in reversed(range(len(SAID))):
            if _fits(SAID[i], is_true, near, right):
                best[i + 1] = max(best[i + 1], best[i] | {SAID[i]}, key=len)
        for i in range(len(SAID)):
            best[i + 1] = max(best[i + 1], best[i], key=len)
    return best[-1]


def _fits(name, is_true, near, right):
    if name == "pre_norm":
        off = max(ROUNDED * right, DECIMALS)
        return not is_true and any(abs(one - right) <= off for one in near)
    return is_true and any(0 <= one <= STATES for one in near)
