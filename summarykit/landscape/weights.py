"""Weights in files: read by name and in pieces, so that many checkpoints need no more memory than one piece of each.

Ours are safetensors files (https://github.com/huggingface/safetensors, format): a u64le length, so much JSON that says dtype, shape and
place of each tensor, then the bytes. Reading and writing that takes no package.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.formats.narrow import WIDENED, widen
from summarykit.formats.wire import memory
from summarykit.landscape import atomic
from summarykit.shapes import Array

DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
}  # fmt: skip
NAMES = {name: code for code, name in DTYPES.items()}
_ALIGNED = 64
_LARGEST_HEADER = 1 << 27


@dataclass(frozen=True)
class Place:
    """Where a tensor is in a file.

    Attributes:
        offset: of its first byte.
        dtype: name of its dtype.
        shape: lengths of its axes.
    """

    offset: int
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether it can be moved along a direction."""
        return "float" in self.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return WIDENED.get(self.dtype) or np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Weights:
    """Weights in a file, whatever its format.

    Attributes:
        file: where they are.
        places: name -> place, in the order of the file.
        told: what its writer says of them.
    """

    file: Path
    places: Mapping[str, Place]
    told: Mapping[str, Any]

    def read(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """Elements ``[start:stop]`` of a tensor, in C order; what NumPy has no dtype for comes in the smallest one that holds it.

        Raises:
            OSError: the file cannot be read, or is too short.
        """
        place = self.places[name]
        count = (place.size if stop is None else min(stop, place.size)) - start
        dtype = np.dtype(f"<u{place.itemsize}") if place.dtype in WIDENED else np.dtype(place.dtype).newbyteorder("<")
        found = np.fromfile(self.file, dtype, count, offset=place.offset + start * place.itemsize)
        if len(found) < count:
            raise OSError(f"{self.file}: ends within {name!r}")
        return widen(found, place.dtype) if place.dtype in WIDENED else found

    def array(self, name: str) -> Array:
        """A whole tensor, in its shape."""
        return self.read(name).reshape(self.places[name].shape)


def save(file: Path, arrays: Mapping[str, Array], told: Mapping[str, Any]) -> int:
    """Write weights, whole or not at all.

    Args:
        file: where to.
        arrays: by name; bool, integers or floats.
        told: what to say of them; anything JSON holds.

    Returns:
        The number of bytes.

    Raises:
        OSError: it cannot be written.
    """
    return atomic.write(file, [_header_of(arrays, told), *map(_raw, arrays.values())])


def size(arrays: Mapping[str, Array], told: Mapping[str, Any]) -> int:
    """The number of bytes that `save` would write."""
    return len(_header_of(arrays, told)) + sum(each.nbytes for each in arrays.values())


def _header_of(arrays: Mapping[str, Array], told: Mapping[str, Any]) -> bytes:
    return header({name: (each.dtype.name, each.shape) for name, each in arrays.items()}, told)


def header(forms: Mapping[str, tuple[str, tuple[int, ...]]], told: Mapping[str, Any]) -> bytes:
    """What a file begins with, told the dtype and the shape of each tensor; the tensors follow without gaps."""
    content: dict[str, Any] = {"__metadata__": {name: json.dumps(value) for name, value in told.items()}}
    offset = 0
    for name, (dtype, shape) in forms.items():
        end = offset + Place(0, dtype, shape).itemsize * math.prod(shape)
        content[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(content).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNED)
    return len(text).to_bytes(8, "little") + text


def _raw(data: Array) -> memoryview:
    return memory(np.asarray(data, data.dtype.newbyteorder("<")))


def open_safetensors(file: Path) -> Weights:
    """Read the header of a safetensors file of anybody.

    Raises:
        OSError: it cannot be read.
        ValueError, KeyError, TypeError: it is no such file.
    """
    with open(file, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _LARGEST_HEADER:
            raise ValueError("no safetensors file")
        content = json.loads(stream.read(length))
    told = {name: _told(text) for name, text in content.pop("__metadata__", {}).items()}
    places = {
        name: Place(8 + length + each["data_offsets"][0], DTYPES[each["dtype"]], tuple(each["shape"])) for name, each in content.items()
    }
    return Weights(file, places, told)


def _told(text: str) -> Any:
    """What others say is plain text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
