"""MindSpore's ``TensorProto``, written and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats import wire
from summarykit.formats.mindspore.dtypes import DTYPES
from summarykit.formats.narrow import WIDENED, widen
from summarykit.shapes import Array, Tensor

DATA_TYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float16": 10, "float32": 11, "float64": 12,
}  # fmt: skip
"""Name of a NumPy dtype -> number."""

_TYPED = {"int64": "int64_data", "float64": "double_data", "uint64": "uint64_data", "uint32": "uint64_data"}


def tensor(shape: Tensor) -> list[Any]:
    """A ``TensorProto`` message: ``float_data``, all that MindInsight reads, and the exact bytes where float32 is not the dtype."""
    data = shape.data
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(data, "<f4")
    head = b"".join(wire.integer(1, size) for size in data.shape) + wire.integer(2, DATA_TYPES[data.dtype.name])
    parts = [head, wire.head(3, floats.nbytes), wire.memory(floats)]
    if data.dtype.name != "float32":
        parts += [wire.head(8, data.nbytes), wire.memory(data)]
    return parts


def decode(found: Any, recorded: str = "") -> Tensor:
    """A ``TensorProto``: the exact bytes where they are, else the native typed field, else ``float_data``.

    Args:
        found: the message.
        recorded: name of the recorded dtype, where the message's own label cannot say it.
    """
    name = DTYPES.get(found.data_type, "float32")
    data = _values(found, name)
    fits = all(size >= 0 for size in found.dims) and int(np.prod(np.array(found.dims, object))) == data.size
    return Tensor(data.reshape(tuple(found.dims)) if fits else data, recorded or name)


def _values(found: Any, name: str) -> Array:
    if found.raw_data:
        return widen(found.raw_data, name) if name in WIDENED else _from_bytes(found.raw_data, name)
    typed = getattr(found, _TYPED.get(name, "int32_data"))
    if len(typed):
        return np.array(typed, _TYPED.get(name) and name).astype(name if name not in WIDENED else "float32")
    return _from_floats(np.array(found.float_data, np.float32), name)


def _from_bytes(raw: bytes, name: str) -> Array:
    dtype = np.dtype(name).newbyteorder("<")
    return np.frombuffer(raw, dtype, len(raw) // dtype.itemsize)


def _from_floats(floats: Array, name: str) -> Array:
    """All values as float32 is MindSpore's own way: they go back to the labelled dtype where that is possible."""
    if name in WIDENED or name == "float32":
        return floats
    with np.errstate(all="ignore"):
        data = floats.astype(name)
        same = np.array_equal(data.astype(np.float32), floats, equal_nan=True)
    return data if same else floats
