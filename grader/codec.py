"""Values as frames: a JSON header and safetensors bytes, read as if an enemy had written them.

    frame  = magic, u32 header length, u64 payload length, header, payload   (little-endian)
    header = JSON object; a value in it is plain, a list of values, or one of
             {"dict": [[key, value], ...]}, {"float": "nan" | "inf" | "-inf"},
             {"tensor": "<name in the payload>"}

The writing side runs beside a submission and only refuses what has no plain meaning. The reading
side checks lengths before it takes memory, and believes nothing.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch

from grader.records import Value

MAGIC = b"GRD1"
_HEAD = struct.Struct("<4sIQ")

#: Caps of the reading side, in bytes, levels and counts; far above what any lab's probes send.
MAX_HEADER = 8 * 1024 * 1024  #: and of all of a stream's together: as objects they are far larger
MAX_PAYLOAD = 64 * 1024 * 1024
MAX_INDEX = 1024 * 1024  #: of a payload's own list of tensors
MAX_DEPTH = 20
MAX_AXES = 8

#: What most lists and dicts hold, and means the same on both sides: taken as it is, all at once.
_SIMPLE = {bool, int, type(None)}

DTYPES: Mapping[str, torch.dtype] = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}


class WireError(Exception):
    """The bytes are not a frame of plain values; the message says what is wrong with them."""


def encode(value: object, tensors: dict[str, torch.Tensor], depth: int = 0) -> object:
    """A value as JSON, its tensors moved to `tensors`.

    Tuples become lists and numpy's scalars and arrays become numbers and tensors. Exact types only:
    a subclass may lie about what it holds.

    Raises:
        TypeError: the value, or something in it, has no plain meaning.
    """
    if depth > MAX_DEPTH:
        raise TypeError(f"a value nested more than {MAX_DEPTH} deep")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        number: float = value  # type: ignore[assignment]
        return number if math.isfinite(number) else {"float": str(number)}
    if kind in (list, tuple):
        return _items(value, tensors, depth)  # type: ignore[arg-type]
    if kind is dict:
        return {"dict": _pairs(value, tensors, depth)}  # type: ignore[arg-type]
    if isinstance(value, np.generic) and kind is not np.longdouble:  # whose item is itself
        return encode(value.item(), tensors, depth)
    if kind is np.ndarray:
        value = _from_numpy(value)  # type: ignore[arg-type]
    elif kind is torch.nn.Parameter:
        value = torch.Tensor.detach(value)  # type: ignore[arg-type]
    if type(value) is torch.Tensor:
        return {"tensor": _keep(value, tensors)}
    raise TypeError(f"a {kind.__module__}.{kind.__qualname__}, which is no plain value or tensor")


def _items(value: Sequence[object], tensors: dict[str, torch.Tensor], depth: int) -> list[object]:
    if depth < MAX_DEPTH and set(map(type, value)) <= {*_SIMPLE, str}:
        return list(value)
    return [encode(item, tensors, depth + 1) for item in value]


def _pairs(
    value: dict[object, object], tensors: dict[str, torch.Tensor], depth: int
) -> list[list[object]]:
    if set(map(type, value)) <= {str}:  # which cannot be the same
        items = _items(list(value.values()), tensors, depth)
        return list(map(list, zip(value, items, strict=True)))
    pairs = [_pair(key, item, tensors, depth) for key, item in value.items()]
    if len({str(key) for key, _ in pairs}) < len(pairs):
        raise TypeError("a dict with two keys that are the same as text")
    return pairs


def _from_numpy(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """A copy, since an array may be read-only; in this machine's order of bytes."""
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))


def _pair(key: object, value: object, tensors: dict[str, torch.Tensor], depth: int) -> list[object]:
    if isinstance(key, np.generic):
        key = key.item()
    if type(key) not in (str, int):
        raise TypeError(f"a dict with a key of type {type(key).__name__} instead of text")
    return [str(key), encode(value, tensors, depth + 1)]


def _keep(tensor: torch.Tensor, tensors: dict[str, torch.Tensor]) -> str:
    """Put a tensor into the payload and give its name there."""
    if tensor.dtype not in DTYPES.values():
        raise TypeError(f"a tensor of {tensor.dtype}, which cannot be sent")
    if tensor.is_nested or tensor.layout is not torch.strided or tensor.device.type != "cpu":
        raise TypeError(f"a tensor with layout {tensor.layout} on {tensor.device}, not a dense one")
    if tensor.dim() > MAX_AXES:
        raise TypeError(f"a tensor of {tensor.dim()} axes")
    name = str(len(tensors))
    tensors[name] = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    return name


def pack(header: dict[str, Any], **values: object) -> bytes:
    """A frame of a header of plain JSON and, by name, values encoded into it.

    Raises:
        TypeError: a value has no plain meaning, or is too large to be sent.
    """
    tensors: dict[str, torch.Tensor] = {}
    body = {**header, **{name: encode(value, tensors) for name, value in values.items()}}
    return seal(body, safetensors.torch.save(tensors) if tensors else b"")


def seal(header: dict[str, Any], payload: bytes) -> bytes:
    """A frame of a JSON header and payload bytes as they are."""
    text = json.dumps(header, allow_nan=False, ensure_ascii=True).encode("ascii")
    if len(text) > MAX_HEADER or len(payload) > MAX_PAYLOAD:
        raise TypeError(f"a value of {(len(text) + len(payload)) / 1e6:.0f} MB, too large to send")
    return _HEAD.pack(MAGIC, len(text), len(payload)) + text + payload


class FrameReader:
    """Turns a stream of bytes into frames, holding at most one frame of the allowed size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._headers = 0

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Take the next bytes and yield each header and payload that is complete.

        Raises:
            WireError: the bytes cannot be a frame.
        """
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            magic, header, payload = _HEAD.unpack_from(self._buffer)
            if magic != MAGIC:
                raise WireError("bytes that are no frame")
            if header > MAX_HEADER or payload > MAX_PAYLOAD:
                raise WireError(f"a frame of {header + payload} bytes, over the cap")
            if self._headers + header > MAX_HEADER:
                raise WireError(f"headers of more than {MAX_HEADER} bytes together")
            end = _HEAD.size + header + payload
            if len(self._buffer) < end:
                return
            text = bytes(self._buffer[_HEAD.size : _HEAD.size + header])
            body = bytes(self._buffer[_HEAD.size + header : end])
            del self._buffer[:end]
            self._headers += header
            yield parse_header(text), body


def parse_header(text: bytes) -> dict[str, Any]:
    """A frame's header: a JSON object with no key twice and no number outside JSON's own.

    Raises:
        WireError: it is anything else.
    """
    try:
        header = json.loads(
            text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as problem:
        raise WireError(f"a header that is no JSON: {str(problem)[:200]}") from None
    if type(header) is not dict:
        raise WireError("a header that is no object")
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise WireError("a header with a key twice")
    return found


def _no_constant(name: str) -> float:
    raise WireError(f"the number {name} in a header")


def decode(encoded: object, payload: bytes, depth: int = 0) -> Value:
    """The value of a header's field, its tensors taken from the payload, each once.

    Raises:
        WireError: the field or the payload is not what `encode` writes.
    """
    return _decode(encoded, _tensors(payload), depth)


def _decode(encoded: object, tensors: dict[str, torch.Tensor], depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise WireError(f"a value nested more than {MAX_DEPTH} deep")
    if isinstance(encoded, str):
        return _text(encoded)
    if isinstance(encoded, float) and not math.isfinite(encoded):
        raise WireError("a number too large for JSON")
    if encoded is None or isinstance(encoded, (int, float)):
        return encoded
    if isinstance(encoded, list):
        return _decode_list(encoded, tensors, depth)
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise WireError("a value of no known form")
    ((form, body),) = encoded.items()
    if form == "dict" and isinstance(body, list):
        return _decode_dict(body, tensors, depth)
    if form == "float" and body in ("nan", "inf", "-inf"):
        return float(body)
    if form == "tensor" and isinstance(body, str) and body in tensors:
        return tensors.pop(body)  # a name used often would be a copy each time it is stored
    raise WireError(f"a value of the unknown form {form[:40]!r}")


def _text(encoded: str) -> str:
    """Text without the halves of characters that JSON can hold and files cannot."""
    return encoded if encoded.isascii() else encoded.encode("utf-8", "replace").decode("utf-8")


def _decode_list(body: list[Any], tensors: dict[str, torch.Tensor], depth: int) -> list[Value]:
    if depth < MAX_DEPTH and set(map(type, body)) <= {*_SIMPLE, str}:
        return [_text(item) if type(item) is str else item for item in body]
    return [_decode(item, tensors, depth + 1) for item in body]


def _decode_dict(body: list[Any], tensors: dict[str, torch.Tensor], depth: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in body:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise WireError("a dict that is no list of pairs")
        key = _text(pair[0])
        if key in found:
            raise WireError("a dict with a key twice")
        found[key] = _decode(pair[1], tensors, depth + 1)
    return found


def _tensors(payload: bytes) -> dict[str, torch.Tensor]:
    """The payload's tensors by name: safetensors checks offsets and lengths, we check types."""
    if not payload:
        return {}
    if int.from_bytes(payload[:8], "little") > MAX_INDEX:
        raise WireError("a payload with too many tensors")
    try:
        entries = safetensors.deserialize(payload)  # type: ignore[no-untyped-call]
    except Exception as problem:  # noqa: BLE001 - whatever it raises, the bytes are at fault
        raise WireError(f"a payload that is no safetensors: {str(problem)[:200]}") from None
    found = {}
    for name, entry in entries:
        dtype, shape, data = DTYPES.get(entry["dtype"]), entry["shape"], entry["data"]
        absurd = math.prod(axis or 1 for axis in shape) > MAX_PAYLOAD  # an empty one can be
        if dtype is None or len(shape) > MAX_AXES or absurd:
            raise WireError(f"a tensor of {str(entry['dtype'])[:20]} and {len(shape)} axes")
        if not data:
            found[name] = torch.empty(shape, dtype=dtype)
        else:
            found[name] = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    return found
