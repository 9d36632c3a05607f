"""TensorFlow's ``TensorProto`` as an array, whichever of its fields holds the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats.narrow import WIDENED, widen
from summarykit.shapes import Array

DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64", 10: "bool",
    11: "int8", 12: "uint8", 13: "int32", 14: "bfloat16", 15: "int16", 16: "uint16", 17: "uint16", 18: "complex128", 19: "float16",
    22: "uint32", 23: "uint64", 24: "float8_e5m2", 25: "float8_e4m3fn", 29: "int4", 30: "uint4",
}  # fmt: skip
"""TensorFlow's number -> name; quantised integers (11 to 16) count as integers."""

NUMBERS = {name: number for number, name in sorted(DTYPES.items(), reverse=True) if not 11 <= number <= 13 and number not in (15, 16)}
"""Name -> number."""

_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
    "uint64": "uint64_val", "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val", "bfloat16": "half_val",
}  # fmt: skip
_LARGEST_FILL = 1 << 24    # values; a message may claim any size with a single value


def array(tensor: Any) -> tuple[Array, str]:
    """The values, and the name of their dtype (``"string"``: an object array of bytes).

    A shape that does not fit the values is not believed: they come one-dimensional.
    """
    name = DTYPES.get(tensor.dtype, "uint8")
    flat = _from_content(tensor.tensor_content, name) if tensor.tensor_content else _from_field(tensor, name)
    return _shaped(flat, tuple(dim.size for dim in tensor.tensor_shape.dim)), name


def _from_content(content: bytes, name: str) -> Array:
    if name == "string":
        return _strings([content])
    if name in WIDENED:
        return widen(content[: len(content) // WIDENED[name] * WIDENED[name]], name)
    dtype = np.dtype(name).newbyteorder("<")
    return np.frombuffer(content, dtype, len(content) // dtype.itemsize)


def _from_field(tensor: Any, name: str) -> Array:
    if name == "string":
        return _strings(tensor.string_val)
    if name.startswith("float8"):
        return widen(tensor.float8_val, name)
    found = getattr(tensor, _FIELDS.get(name, "int_val"))
    values = np.array(found, np.uint64 if name == "uint64" else None)    # NumPy 1 would make floats of large ones
    if name in ("float16", "bfloat16"):
        bits = values.astype(np.uint16)
        return bits.view("<f2") if name == "float16" else widen(bits, name)
    if name.startswith("complex"):
        parts = values.astype("<f4" if name == "complex64" else "<f8")
        return parts[: len(parts) // 2 * 2].view(name)
    return values.astype(name if name not in WIDENED else np.int8)


def _strings(values: Any) -> Array:
    out = np.empty(len(values), object)
    out[:] = list(values)
    return out


def _shaped(flat: Array, shape: tuple[int, ...]) -> Array:
    """Give values their shape; as TensorFlow allows, the last one stands for all that are missing."""
    size = int(np.prod(np.array(shape, object)))
    if any(length < 0 for length in shape) or size > _LARGEST_FILL > flat.size or size < flat.size:
        return flat
    if 0 < flat.size < size:
        flat = np.concatenate([flat, np.repeat(flat[-1:], size - flat.size)])
    return flat.reshape(shape) if flat.size == size else flat
