"""The codec: plain values survive the wire, everything else is refused, on either side of it."""

from __future__ import annotations

import json
import math
import random
import resource
import struct
import tracemalloc
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import codec
from grader.codec import DTYPES, FrameReader, WireError

PROPERTY = settings(max_examples=50, deadline=None, derandomize=True)
MEGABYTE = 2**20
HEAD = struct.Struct("<4sIQ")


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """A tensor of any dtype that may be sent, of any bits: empty, 0-dim, nan and inf too."""
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    shape = draw(st.lists(st.integers(0, 3), max_size=4))
    size = math.prod(shape) * dtype.itemsize
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if dtype is torch.bool:
        data = bytearray(byte & 1 for byte in data)
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(shape)


texts = st.text(max_size=8)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts | tensors()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def same(one: object, other: object) -> bool:
    """Whether two values agree in type and to the last bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and _bits(one) == _bits(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return repr(one) == repr(other)  # tells nan, inf and -0.0 apart, and True from 1


def _bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def _frames(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    return list(FrameReader().feed(data))


def _over_the_wire(value: object) -> Any:
    ((header, payload),) = _frames(codec.pack({"kind": "value"}, value=value))
    assert header["kind"] == "value"
    return codec.decode(header["value"], payload)


def _nested(depth: int, form: type = list) -> Any:
    """The number 7 in so many lists, tuples or dicts."""
    value: Any = 7
    for _ in range(depth):
        value = {"k": value} if form is dict else form([value])
    return value


# The writing side ---------------------------------------------------------------------------------


@PROPERTY
@given(values)
def test_values_round_trip(value: object) -> None:
    assert same(_over_the_wire(value), value)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (1,) * codec.MAX_AXES])
def test_tensors_of_every_dtype_round_trip(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape).to(dtype)
    assert same(_over_the_wire(tensor), tensor)


@pytest.mark.parametrize("dtype", [d for d in DTYPES.values() if d.is_floating_point], ids=str)
def test_nan_and_infinities_round_trip(dtype: torch.dtype) -> None:
    tensor = torch.tensor([math.nan, math.inf, -math.inf, -0.0], dtype=dtype)
    assert same(_over_the_wire(tensor), tensor)


@pytest.mark.parametrize(
    "view",
    [
        torch.arange(6).reshape(2, 3).T,
        torch.arange(8)[::3],
        torch.ones(1).expand(5),
        torch.ones(2, dtype=torch.complex64).conj().imag,
        torch.ones(3, requires_grad=True),
        torch.nn.Parameter(torch.ones(3)),
    ],
    ids=["transposed", "strided", "expanded", "negative", "with_gradient", "parameter"],
)
def test_views_arrive_as_what_they_show(view: torch.Tensor) -> None:
    arrived = _over_the_wire(view)
    assert type(arrived) is torch.Tensor
    assert not arrived.requires_grad
    assert same(arrived, torch.tensor(view.tolist(), dtype=view.dtype))


def test_tuples_arrive_as_lists_and_numbers_as_keys_arrive_as_text() -> None:
    assert same(_over_the_wire((1, (2.5, "a"))), [1, [2.5, "a"]])
    assert same(_over_the_wire({3: "c", np.int64(4): "d"}), {"3": "c", "4": "d"})


@pytest.mark.parametrize(
    ("scalar", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(-3), -3),
        (np.uint8(3), 3),
        (np.bool_(1), True),
        (np.str_("a"), "a"),
        (np.float64("nan"), math.nan),
    ],
    ids=repr,
)
def test_numpy_scalars_become_plain(scalar: np.generic, plain: object) -> None:
    assert same(_over_the_wire(scalar), plain)


ARRAYS = {
    "plain": (np.eye(2), torch.eye(2, dtype=torch.float64)),
    "strided": (np.arange(6)[::-2], torch.tensor([5, 3, 1])),
    "boolean": (np.array([True]), torch.tensor([True])),
    "of swapped bytes": (np.arange(3, dtype=">i4"), torch.arange(3, dtype=torch.int32)),
    "empty": (np.ones((0, 2), dtype=np.float32), torch.ones(0, 2)),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_numpy_arrays_become_tensors(what: str) -> None:
    array, tensor = ARRAYS[what]
    assert same(_over_the_wire(array), tensor)


def test_numpy_array_without_axes_keeps_its_shape() -> None:
    assert same(_over_the_wire(np.array(3.0)), torch.tensor(3.0, dtype=torch.float64))


def test_read_only_numpy_array_is_sent_without_a_warning() -> None:
    array = np.ones(3)
    array.flags.writeable = False  # as pandas hands out its columns
    assert same(_over_the_wire(array), torch.ones(3, dtype=torch.float64))


def test_one_tensor_in_two_places_arrives_in_both() -> None:
    tensor = torch.arange(3)
    assert same(_over_the_wire([tensor, {"again": tensor}]), [tensor, {"again": tensor}])


def test_deepest_nesting_round_trips() -> None:
    for form in (list, dict):
        value = _nested(codec.MAX_DEPTH, form)
        assert same(_over_the_wire(value), value)


class _Tensor(torch.Tensor):
    """A subclass may answer every comparison with what it likes."""


class _Text(str):
    __slots__ = ()


class _Whole(int):
    pass


class _Number(float):
    pass


class _Dict(dict):
    pass


class _List(list):
    pass


class _Equal:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class _Array(np.ndarray):
    pass


def _self_containing() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


REFUSED = {
    "tensor subclass": torch.ones(2).as_subclass(_Tensor),
    "text subclass": _Text("a"),
    "int subclass": _Whole(1),
    "float subclass": _Number(1.0),
    "dict subclass": _Dict(a=1),
    "ordered dict": OrderedDict(a=1),
    "list subclass": _List([1]),
    "named tuple": torch.return_types.max((torch.ones(1), torch.ones(1))),
    "equal to all": _Equal(),
    "class": _Equal,
    "function": len,
    "ellipsis": ...,
    "set": {1},
    "frozenset": frozenset({1}),
    "bytes": b"a",
    "complex": 1j,
    "numpy complex": np.complex64(1),
    "numpy bytes": np.bytes_(b"a"),
    "numpy long double": np.longdouble(1),
    "numpy date": np.datetime64("2024-01-01"),
    "numpy objects": np.array([_Equal()], dtype=object),
    "numpy texts": np.array(["a"]),
    "numpy records": np.zeros(2, dtype=[("a", "i4")]),
    "numpy unsigned": np.ones(2, dtype=np.uint32),
    "numpy subclass": np.ones(2).view(_Array),
    "numpy masked": np.ma.masked_array([1.0], [True]),
    "complex tensor": torch.ones(2, dtype=torch.complex64),
    "unsigned tensor": torch.ones(2, dtype=torch.uint16),
    "quarter tensor": torch.ones(2).to(torch.float8_e4m3fn),
    "sparse tensor": torch.eye(2).to_sparse(),
    "meta tensor": torch.ones(2, device="meta"),
    "nine axes": torch.ones((1,) * (codec.MAX_AXES + 1)),
    "too deep list": _nested(codec.MAX_DEPTH + 1),
    "too deep tuple": _nested(codec.MAX_DEPTH + 1, tuple),
    "too deep dict": _nested(codec.MAX_DEPTH + 1, dict),
    "list in itself": _self_containing(),
    "key of no text": {1.5: 1},
    "key None": {None: 1},
    "key subclass": {_Text("a"): 1},
    "keys alike": {1: "a", "1": "b"},
    "too long text": "a" * (codec.MAX_HEADER + 1),
    "too large tensor": torch.zeros(codec.MAX_PAYLOAD + 1, dtype=torch.uint8),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_plain_is_refused(what: str) -> None:
    with pytest.raises(TypeError):
        codec.pack({}, value=REFUSED[what])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensor_is_refused() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(TypeError):
        codec.pack({}, value=nested)


def test_refusal_names_the_type() -> None:
    with pytest.raises(TypeError, match=r"_Tensor, which is no plain value"):
        codec.pack({}, value=[{"deep": REFUSED["tensor subclass"]}])


def test_comparison_method_of_an_object_is_never_asked() -> None:
    class Loud:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("asked")

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="Loud"):
        codec.pack({}, value=Loud())


# Frames -------------------------------------------------------------------------------------------


@PROPERTY
@given(st.lists(values, max_size=4), st.lists(st.integers(1, 40), min_size=1))
def test_frames_in_arbitrary_chunks(sent: list[object], sizes: list[int]) -> None:
    stream = b"".join(codec.pack({}, value=value) for value in sent)
    reader, got, start = FrameReader(), [], 0
    while start < len(stream):
        size = sizes[start % len(sizes)]
        for header, payload in reader.feed(stream[start : start + size]):
            got.append(codec.decode(header["value"], payload))
        start += size
    assert same(got, sent)


def test_unfinished_frame_is_silence() -> None:
    frame = codec.pack({}, value=torch.ones(3))
    assert all(_frames(frame[:end]) == [] for end in range(len(frame)))


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        (codec.MAX_HEADER + 1, 0),
        (2**32 - 1, 0),
        (2, codec.MAX_PAYLOAD + 1),
        (2, 2**63),
        (2**32 - 1, 2**64 - 1),
    ],
)
def test_oversized_lengths_are_refused_before_reading(header: int, payload: int) -> None:
    with pytest.raises(WireError, match="over the cap"):
        _frames(HEAD.pack(codec.MAGIC, header, payload))


def test_announced_length_takes_no_memory() -> None:
    reader = FrameReader()
    tracemalloc.start()
    try:
        announced = HEAD.pack(codec.MAGIC, codec.MAX_HEADER, codec.MAX_PAYLOAD)
        assert list(reader.feed(announced + b" " * 1000)) == []
        assert tracemalloc.get_traced_memory()[1] < MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [b"x" * 16, b"GRD2" + bytes(12), b"\x80\x04K\x01." + bytes(11)])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    reader = FrameReader()
    for _ in range(2):  # and stays refused
        with pytest.raises(WireError):
            list(reader.feed(data))


# The reading side ---------------------------------------------------------------------------------

NO_HEADERS = {
    "nothing": b"",
    "half": b'{"a": 1',
    "two": b"{}{}",
    "list": b"[]",
    "number": b"1",
    "null": b"null",
    "not utf-8": b'{"a": "\xff"}',
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "byte-order mark": b"\xef\xbb\xbf{}",
    "key twice": b'{"a": 1, "a": 2}',
    "key twice inside": b'{"a": [{"b": 1, "b": 1}]}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": [Infinity]}',
    "minus Infinity": b'{"a": -Infinity}',
    "deep lists": b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep and open": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 100_000,
    "int of 5,000 digits": b'{"a": ' + b"1" * 5000 + b"}",
}


@pytest.mark.parametrize("what", NO_HEADERS)
def test_header_that_is_none_is_refused(what: str) -> None:
    text = NO_HEADERS[what]
    with pytest.raises(WireError):
        codec.parse_header(text)
    with pytest.raises(WireError):
        _frames(HEAD.pack(codec.MAGIC, len(text), 0) + text)


NO_VALUES = {
    "empty object": "{}",
    "two forms": '{"float": "nan", "dict": []}',
    "unknown form": '{"set": []}',
    "form of a long name": '{"%s": 1}' % ("a" * 10_000),
    "list as a form": '{"list": []}',
    "list of an object": "[{}]",
    "dict of an object": '{"dict": {"a": 1}}',
    "dict of singles": '{"dict": [["a"]]}',
    "dict of triples": '{"dict": [["a", 1, 2]]}',
    "dict of texts": '{"dict": ["ab"]}',
    "dict with a numeric key": '{"dict": [[1, 2]]}',
    "dict with a null key": '{"dict": [[null, 2]]}',
    "dict with a list key": '{"dict": [[["a"], 2]]}',
    "dict with a key twice": '{"dict": [["a", 1], ["a", 1]]}',
    "float of a word": '{"float": "one"}',
    "float of a number": '{"float": 1.5}',
    "float of a list": '{"float": ["nan"]}',
    "float in capitals": '{"float": "NaN"}',
    "number too large": "1e999",
    "number too small": "-1e999",
    "large number inside": "[1e400]",
    "unknown tensor": '{"tensor": "1"}',
    "no tensor's name": '{"tensor": 0}',
    "list as a name": '{"tensor": ["0"]}',
    "null as a name": '{"tensor": null}',
    "too deep": "[" * 22 + "1" + "]" * 22,
    "just too deep": "[" * 21 + "1" + "]" * 21,
    "much too deep": "[" * 300 + "1" + "]" * 300,
    "too deep dict": '{"dict": [["a", ' * 22 + "1" + "]]}" * 22,
}


@pytest.mark.parametrize("what", NO_VALUES)
def test_value_of_another_form_is_refused(what: str) -> None:
    header = codec.parse_header(b'{"value": %s}' % NO_VALUES[what].encode())
    with pytest.raises(WireError) as caught:
        codec.decode(header["value"], _payload({"0": ("F32", [1], 0, 4)}, bytes(4)))
    assert len(str(caught.value)) < 300


def test_tensor_named_twice_is_refused() -> None:
    """`encode` names each once; a name used a thousand times would be a thousand copies on disk."""
    payload = _payload({"0": ("F32", [1], 0, 4)}, bytes(4))
    with pytest.raises(WireError):
        codec.decode([{"tensor": "0"}] * 1000, payload)


def test_half_characters_do_not_survive() -> None:
    header = codec.parse_header(rb'{"value": {"dict": [["\ud800", "a\udfff"]]}}')
    value = codec.decode(header["value"], b"")
    assert str(value).encode("utf-8") == b"{'?': 'a?'}"


def _payload(entries: dict[str, tuple[object, object, object, object]], data: bytes) -> bytes:
    """Safetensors bytes by hand, with a header that may lie."""
    header = {
        name: {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
        for name, (dtype, shape, start, end) in entries.items()
    }
    return _prefixed(json.dumps(header).encode()) + data


def _prefixed(text: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if length is None else length) + text


PAYLOADS = {
    "no safetensors": b"PK\x03\x04" + bytes(100),
    "seven bytes": bytes(7),
    "header beyond the end": _prefixed(b"{}", 3),
    "header of 2**63": _prefixed(b"{}", 2**63),
    "header of 2**64 - 1": _prefixed(b"{}", 2**64 - 1),
    "header no JSON": _prefixed(b"{'"),
    "header a list": _prefixed(b"[]"),
    "deep header": _prefixed(b'{"0":' * 10_000),
    "overlapping": _payload({"0": ("F32", [2], 0, 8), "1": ("F32", [2], 4, 12)}, bytes(12)),
    "with a hole": _payload({"0": ("F32", [1], 0, 4), "1": ("F32", [1], 8, 12)}, bytes(12)),
    "past the end": _payload({"0": ("F32", [4], 0, 16)}, bytes(8)),
    "before the start": _payload({"0": ("F32", [1], -4, 0)}, bytes(4)),
    "backwards": _payload({"0": ("F32", [1], 4, 0)}, bytes(4)),
    "bytes left over": _payload({"0": ("F32", [1], 0, 4)}, bytes(8)),
    "shape too large": _payload({"0": ("F32", [3], 0, 4)}, bytes(4)),
    "shape too small": _payload({"0": ("F32", [1], 0, 8)}, bytes(8)),
    "shape of 2**62": _payload({"0": ("F32", [2**62], 0, 4)}, bytes(4)),
    "shape that wraps": _payload({"0": ("F32", [2**32, 2**32, 4], 0, 0)}, b""),
    "shape negative": _payload({"0": ("F32", [-1], 0, 4)}, bytes(4)),
    "shape of a fraction": _payload({"0": ("F32", [1.5], 0, 4)}, bytes(4)),
    "shape no list": _payload({"0": ("F32", "4", 0, 4)}, bytes(4)),
    "nine axes": _payload({"0": ("F32", [1] * 9, 0, 4)}, bytes(4)),
    "a million axes": _payload({"0": ("F32", [1] * 1_000_000, 0, 4)}, bytes(4)),
    "dtype unknown": _payload({"0": ("X32", [1], 0, 4)}, bytes(4)),
    "dtype complex": _payload({"0": ("C64", [1], 0, 8)}, bytes(8)),
    "dtype unsigned": _payload({"0": ("U32", [1], 0, 4)}, bytes(4)),
    "dtype of a quarter": _payload({"0": ("F8_E4M3", [4], 0, 4)}, bytes(4)),
    "dtype no text": _payload({"0": (7, [1], 0, 4)}, bytes(4)),
}
#: Empty, so that a length check finds nothing wrong with them.
ABSURD_SHAPES = [
    [0, 2**62],
    [2**62, 0],
    [0, 2**63 - 1],
    [0, 2**63],
    [0, 2**64 - 1],
    [0, 2**62, 2**62],
    [2**62, 0, 2**62],
    [0, *[2**62] * 7],
]


@pytest.mark.parametrize("what", PAYLOADS)
def test_payload_that_lies_is_refused(what: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(WireError) as caught:
            codec.decode({"tensor": "0"}, PAYLOADS[what])
        assert tracemalloc.get_traced_memory()[1] < 20 * len(PAYLOADS[what]) + MEGABYTE
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("shape", ABSURD_SHAPES, ids=str)
def test_absurd_shape_is_harmless(shape: list[int]) -> None:
    _read(_frame(b'{"value": {"tensor": "0"}}', _payload({"0": ("F64", shape, 0, 0)}, b"")))


def test_metadata_in_a_payload_is_no_tensor() -> None:
    payload = _prefixed(b'{"__metadata__": {"a": "b"}}')
    with pytest.raises(WireError):
        codec.decode({"tensor": "__metadata__"}, payload)


# Random and mutated frames ------------------------------------------------------------------------


def _frame(header: bytes, payload: bytes) -> bytes:
    return HEAD.pack(codec.MAGIC, len(header), len(payload)) + header + payload


def _read(data: bytes) -> bool:
    """Whether bytes were read without a complaint; anything but a WireError comes out."""
    try:
        for header, payload in FrameReader().feed(data):
            codec.decode(header.get("value"), payload)
    except WireError:
        return False
    return True


SEEDS = [
    codec.pack({"kind": "value", "probe": "p"}, value=value)
    for value in (
        {"a": [1, 2.5, None, True, "é", math.nan], "b": {"c": (torch.ones(2, 3), "x")}},
        [torch.zeros(0, 3), torch.tensor(1), torch.ones(3, dtype=torch.bool)],
        [[[[[[{"deep": torch.arange(3.0).bfloat16()}]]]]]],
        "text",
    )
]
_TOKENS = [
    b'{"tensor":"0"}', b'[[]]', b'{"dict":[["a",1]]}', b'{"float":"nan"}', b"null", b"1e999",
    b"NaN", b'"\\ud800"', b"[", b"]", b"{", b"}", b",", b":", b"-1", b"9" * 400, b'"0"', b'"value"',
    b'"BOOL"', b'"F16"', b'"F8_E5M2"', b"4611686018427387904", b"18446744073709551615", b"0",
]  # fmt: skip


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """Frames gone wrong: random bytes, mutated ones, sound envelopes around unsound contents."""
    chance = random.Random(seed)
    for number in range(count):
        frame = chance.choice(SEEDS)
        kind = number % 5
        if kind == 0:
            yield chance.randbytes(chance.randrange(200))
        elif kind == 1:
            yield _mutate(chance, frame)
        else:
            _, length, _ = HEAD.unpack_from(frame)
            header, payload = frame[16 : 16 + length], frame[16 + length :]
            if kind == 2:
                header = _mutate(chance, header)
            elif kind == 3:
                payload = _mutate(chance, payload)
            else:
                header = b'{"value":[{"tensor":"0"},{"tensor":"1"}]}'
                payload = _lying(chance)
            yield _frame(header, payload)


def _mutate(chance: random.Random, data: bytes) -> bytes:
    """A few bytes flipped, cut, repeated or replaced by a token."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        action = chance.randrange(5)
        if action == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif action == 1:
            del changed[at : at + chance.randint(1, 8)]
        elif action == 2:
            changed[at:at] = changed[at : at + chance.randint(1, 30)]
        elif action == 3:
            end = at + chance.choice((0, 1, 4))
            changed[at:end] = chance.choice(_TOKENS)
        else:
            changed = changed[: max(at, 1)] if chance.random() < 0.2 else changed
    return bytes(changed)


def _lying(chance: random.Random) -> bytes:
    """A payload of two tensors, each likely to lie about its dtype, shape or place."""
    small, absurd = [0, 1, 2, 3], [0, 1, 4, 8, 2**31, 2**62, 2**63, 2**64 - 1]
    types = [*DTYPES, "U16", "F8_E4M3", "C64", "F4"]
    entries: dict[str, tuple[object, object, object, object]] = {}
    start = 0
    for name in "01":
        axes = chance.choice((small, absurd))
        shape = [chance.choice(axes) for _ in range(chance.randrange(5))]
        dtype = chance.choice(types)
        width = getattr(DTYPES.get(dtype), "itemsize", 1)
        size = min(math.prod(shape) * width, 256) + chance.choice((0, 0, 0, 0, 1, -1))
        entries[name] = (dtype, shape, start, start + size)
        start += size
    return _payload(entries, chance.randbytes(max(start, 0)))


def test_mutated_frames_give_a_wire_error_or_silence() -> None:
    tracemalloc.start()
    try:
        read = [_read(data) for data in mutants(3000, seed=1)]
        assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert 100 < sum(read) < 2900  # some still sound, most not: the mutations reach both sides


@pytest.mark.slow
def test_a_hundred_thousand_mutants_take_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = sum(_read(data) for data in mutants(100_000, seed=2))
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"100,000 frames: {read} read, the rest refused; peak memory grew by {grown_mb:.1f} MB")
    assert grown_mb < 64  # the cap on one frame's payload
    assert 0 < read < 100_000


@PROPERTY
@given(st.binary(max_size=300))
def test_random_bytes_in_a_sound_envelope(data: bytes) -> None:
    _read(data)
    _read(_frame(data, b""))
    _read(_frame(b'{"value": {"tensor": "0"}}', data))
    _read(_frame(b'{"value": {"tensor": "0"}}', _prefixed(data)))
