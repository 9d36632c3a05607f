"""A tensor that is still in its file: only the parts that are asked for are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.formats.mindspore.dtypes import DTYPES as MINDSPORE_DTYPES
from summarykit.formats.narrow import WIDENED
from summarykit.formats.tensorboard.tensors import DTYPES as TENSORBOARD_DTYPES
from summarykit.reading import wire
from summarykit.reading.wire import BYTES, VARINT, Field
from summarykit.shapes import Array, Tensor

_TENSOR, _DTYPE = 8, 1003    # fields of Summary.Value, alike in both formats


class StoredTensor:
    """One tensor in a file; index it as an array, or take all of it with ``numpy.asarray``.

    Attributes:
        shape: its shape.
        dtype: dtype of the array that indexing gives.
        recorded: name of the dtype that was recorded (``"bfloat16"`` comes as float32).
    """

    def __init__(self, data: Array, recorded: str) -> None:
        self._data = data
        self.shape: tuple[int, ...] = data.shape
        self.dtype = data.dtype
        self.recorded = recorded

    def __getitem__(self, place: Any) -> Array:
        return np.array(self._data[place])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._data, dtype)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<StoredTensor {self.recorded} {self.shape}>"


def of_tensor(shape: Tensor) -> StoredTensor:
    """A tensor that had to be decoded whole."""
    return StoredTensor(shape.data, shape.dtype)


def in_file(path: Path, offset: int, length: int, form: str) -> StoredTensor | None:
    """A tensor whose values are in the file as an array has them in memory; None where they are coded.

    Args:
        path: the file.
        offset: where the message ``Summary.Value`` begins.
        length: its bytes.
        form: the file's format.

    Raises:
        OSError: the file cannot be read (any more).
    """
    with open(path, "rb") as file:
        window = wire.FileWindow(file.fileno(), offset)
        try:
            value = {each.number: each for each in wire.fields(window, 0, length)}
            found = _place(window, value[_TENSOR], form) if _TENSOR in value else None
        except wire.MalformedError:
            return None
        recorded = wire.text(window[value[_DTYPE].start : value[_DTYPE].stop]) if _DTYPE in value else ""
    if found is None:
        return None
    shape, name, start = found
    data = np.memmap(path, np.dtype(name).newbyteorder("<"), "r", offset + start, shape)
    return StoredTensor(data, recorded or name)


def _place(data: Any, tensor: Field, form: str) -> tuple[tuple[int, ...], str, int] | None:
    """Shape, dtype and first byte of the values."""
    fields = list(wire.fields(data, tensor.start, tensor.stop))
    look = _mindspore if form == "mindspore" else _tensorboard
    shape, name, values = look(data, fields)
    if name in WIDENED or name in ("", "string") or len(values) != 1 or values[0].wire != BYTES or not 0 < len(shape) <= 32:
        return None
    fits = math.prod(shape) * np.dtype(name).itemsize == values[0].stop - values[0].start > 0
    return (shape, name, values[0].start) if fits else None


def _mindspore(data: Any, fields: list[Field]) -> tuple[tuple[int, ...], str, list[Field]]:
    shape = tuple(each.value for each in fields if (each.number, each.wire) == (1, VARINT))
    name = MINDSPORE_DTYPES.get(_last(fields, 2), "")
    raw = [each for each in fields if each.number == 8]
    typed = {"float32": 3, "float64": 6}.get(name)
    return shape, name, raw or [each for each in fields if each.number == typed]


def _tensorboard(data: Any, fields: list[Field]) -> tuple[tuple[int, ...], str, list[Field]]:
    dims = [dim for each in fields if each.number == 2 for dim in wire.fields(data, each.start, each.stop)]
    shape = tuple(_last(list(wire.fields(data, dim.start, dim.stop)), 1) for dim in dims if dim.number == 2)
    name = TENSORBOARD_DTYPES.get(_last(fields, 1), "")
    content = [each for each in fields if each.number == 4]
    typed = {"float32": 5, "float64": 6}.get(name)
    return shape, name, content or [each for each in fields if each.number == typed]


def _last(fields: list[Field], number: int) -> int:
    return next((each.value for each in reversed(fields) if (each.number, each.wire) == (number, VARINT)), 0)
