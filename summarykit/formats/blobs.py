"""Values that a format has no message for, in field 1004 of ``Summary.Value``: viewers skip it, our reader gives them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats import wire
from summarykit.shapes import Array, Blob, Plugin, strings

FIELD = 1004


def encode(shape: Blob | Plugin) -> list[Any]:
    """The field, as buffers (message: ``proto/blob.proto``)."""
    return wire.nested(FIELD, _blob(shape) if isinstance(shape, Blob) else _plugin(shape))


def _blob(shape: Blob) -> list[Any]:
    return [wire.text(1, shape.plugin), wire.head(2, len(shape.content)), shape.content, wire.data(3, shape.metadata)]


def _plugin(shape: Plugin) -> list[Any]:
    told = [wire.text(1, shape.plugin), wire.data(3, shape.metadata), wire.integer(4, shape.data_class)]
    titles = [wire.text(5, shape.display_name), wire.text(6, shape.description)]
    return [*told, *titles, *(wire.integer(7, size) for size in shape.data.shape), *_values(shape.data)]


def _values(data: Array) -> list[Any]:
    if data.dtype == object:
        return [part for value in data.reshape(-1).tolist() for part in (wire.head(8, len(value)), value)]
    return [wire.text(9, data.dtype.name), wire.head(10, data.nbytes), wire.memory(data)]


def decode(found: Any) -> Blob | Plugin:
    """The shape in such a message. A shape that does not fit the values is not believed: they come one-dimensional."""
    if not found.HasField("data_class"):
        return Blob(found.plugin, found.content, found.metadata)
    flat = np.frombuffer(found.numbers, np.dtype(found.dtype).newbyteorder("<")) if found.HasField("dtype") else strings(*found.strings)
    fits = all(size >= 0 for size in found.dims) and int(np.prod(np.array(found.dims, object))) == flat.size
    data = flat.reshape(tuple(found.dims)) if fits else flat
    return Plugin(found.plugin, data, found.metadata, found.data_class, found.display_name, found.description)
