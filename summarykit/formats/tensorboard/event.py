"""Shapes as TensorBoard's ``Event`` messages, scalars apart (schema: ``proto/tensorboard.proto``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats import blobs, event, wire
from summarykit.formats.scalar_event import EXACT_VALUE
from summarykit.formats.scalars import needs_exact
from summarykit.registry import imported
from summarykit.shapes import Array, Blob, Graph, Histogram, Image, LossLandscape, Plugin, Point, Shape, Tensor

IMAGE, HISTO, TENSOR, METADATA = 4, 5, 8, 9
NON_FINITE = 1001
STRING = 7

DATA_TYPES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9, "bool": 10,
    "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


def parts(point: Point) -> list[Any]:
    """A point's event, as buffers."""
    return event.parts(point, _value, lambda graph: _graph().encode(graph))


def _value(shape: Shape) -> list[Any]:
    if isinstance(shape, Image):
        return wire.nested(IMAGE, event.image(shape))
    if isinstance(shape, Histogram):
        return [wire.data(HISTO, histogram(shape)), wire.data(NON_FINITE, _non_finite(shape))]
    if isinstance(shape, Tensor):
        return [*wire.nested(TENSOR, tensor(shape.data)), metadata(Plugin("tensor", shape.data)), *event.recorded_dtype(shape)]
    if isinstance(shape, Graph):
        return _value(_graph().as_plugin(shape))
    if isinstance(shape, Plugin):
        number = _number(shape) if shape.plugin == "scalars" and shape.data.size == 1 else wire.nested(TENSOR, tensor(shape.data))
        return [*number, metadata(shape)]
    if isinstance(shape, LossLandscape):
        return blobs.encode(imported("summarykit.formats.mindspore.landscape").as_blob(shape))
    assert isinstance(shape, Blob), f"{type(shape).__name__} is no value of an event"
    return blobs.encode(shape)


def _graph() -> Any:
    return imported("summarykit.formats.tensorboard.graph")    # most runs have none, or one


def histogram(shape: Histogram) -> bytes:
    """A ``HistogramProto`` message; its buckets are told by their right edges."""
    numbers = (shape.min, shape.max, float(shape.finite), shape.sum, shape.sum_squares)
    head = b"".join(wire.double(field, number) for field, number in enumerate(numbers, 1))
    return head + _doubles(6, shape.edges[1:]) + _doubles(7, shape.counts)


def _non_finite(shape: Histogram) -> bytes:
    """What HistogramProto has no field for: the three counts, and the first left edge."""
    left = wire.double(4, float(shape.edges[0])) if len(shape.edges) else b""
    return wire.integer(1, shape.nan) + wire.integer(2, shape.pos_inf) + wire.integer(3, shape.neg_inf) + left


def tensor(data: Array) -> list[Any]:
    """A ``TensorProto`` message of numbers, or of bytes strings."""
    number = STRING if data.dtype == object else DATA_TYPES[data.dtype.name]
    dims = b"".join(wire.data(2, wire.integer(1, size)) for size in data.shape)
    head = wire.integer(1, number) + wire.data(2, dims)
    if data.dtype == object:
        return [head, *(part for value in data.reshape(-1).tolist() for part in (wire.head(8, len(value)), value))]
    return [head, wire.head(4, data.nbytes), wire.memory(data)]


def _number(shape: Plugin) -> list[Any]:
    """A scalar in the form of TensorFlow 2: as float32, since TensorBoard's server shows no others, with the float64 beside it."""
    exact = shape.data.astype(np.float64).reshape(1)
    with np.errstate(over="ignore"):
        number = wire.nested(TENSOR, tensor(exact.astype(np.float32).reshape(())))
    return [*number, wire.double(EXACT_VALUE, float(exact[0]))] if needs_exact(exact)[0] else number


def metadata(shape: Plugin) -> bytes:
    """The metadata that stand beside a value; all values carry them, and viewers keep the first of each tag."""
    plugin = wire.text(1, shape.plugin) + (wire.data(2, shape.metadata) if shape.metadata else b"")
    titles = [wire.text(field, title) for field, title in ((2, shape.display_name), (3, shape.description)) if title]
    return wire.data(METADATA, b"".join([wire.data(1, plugin), *titles, wire.integer(4, shape.data_class)]))


def _doubles(field: int, numbers: Any) -> bytes:
    return wire.data(field, np.ascontiguousarray(numbers, "<f8").tobytes())
