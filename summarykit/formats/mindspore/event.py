"""Shapes as MindSpore's ``Event`` messages, scalars apart (schema: ``proto/summary.proto``)."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from summarykit.formats import blobs, event, wire
from summarykit.registry import imported
from summarykit.shapes import Blob, Graph, Histogram, Image, LossLandscape, Plugin, Point, Shape, Tensor

IMAGE, TENSOR, HISTOGRAM, LOSS_LANDSCAPE = 4, 8, 9, 10
SUM_SQUARES = 1002
EDGES, COUNTS, SMALLEST, LARGEST = 1000, 1001, 1002, 1003    # of a histogram

_MOST = float(np.finfo(np.float64).max) / 2    # the difference of two values up to this one is finite

# A bucket in the histogram: its key and length, the two doubles behind their keys, and the key of its count.
_BUCKET = struct.Struct("<BBBdBdB").pack
_ONE, _TWO = struct.Struct("<BBBdBdBB").pack, struct.Struct("<BBBdBdBBB").pack    # with a count of so many bytes
_DOUBLES = 19    # bytes behind the length and before the count
_KEYS = [wire.key(*each)[0] for each in ((1, wire.BYTES), (1, wire.FIXED64), (2, wire.FIXED64), (3, wire.VARINT))]


def parts(point: Point) -> list[Any]:
    """A point's event, as buffers."""
    return event.parts(point, _value, lambda graph: _graph().encode(graph))


def _value(shape: Shape) -> list[Any]:
    if isinstance(shape, Image):
        return wire.nested(IMAGE, event.image(shape))
    if isinstance(shape, Histogram):
        return [wire.data(HISTOGRAM, histogram(shape)), wire.double(SUM_SQUARES, shape.sum_squares)]
    if isinstance(shape, Tensor):
        tensor = imported("summarykit.formats.mindspore.tensors").tensor    # most runs have none
        return [*wire.nested(TENSOR, tensor(shape)), *event.recorded_dtype(shape)]
    if isinstance(shape, LossLandscape):
        return [wire.data(LOSS_LANDSCAPE, imported("summarykit.formats.mindspore.landscape").encode(shape))]
    if isinstance(shape, Graph):
        return blobs.encode(_graph().as_blob(shape))
    assert isinstance(shape, (Plugin, Blob)), f"{type(shape).__name__} is no value of an event"
    return blobs.encode(shape)


def _graph() -> Any:
    return imported("summarykit.formats.mindspore.graph")    # most runs have none, or one


def histogram(shape: Histogram) -> bytes:
    """A ``Summary.Histogram`` message.

    MindInsight draws all steps of a tag over their common range, and fails on all of them where max - min overflows. So it is shown none of
    the buckets of a histogram that could make it do so; they are in fields of ours.
    """
    odd = wire.integer(2, shape.nan) + wire.integer(3, shape.pos_inf) + wire.integer(4, shape.neg_inf)
    rest = wire.double(7, shape.sum) + wire.integer(8, shape.count)
    if max(map(abs, (shape.min, shape.max, *shape.edges[:1].tolist(), *shape.edges[-1:].tolist()))) > _MOST:
        edges, counts = shape.edges.astype("<f8").tobytes(), shape.counts.astype("<i8").tobytes()
        limits = wire.double(SMALLEST, shape.min) + wire.double(LARGEST, shape.max)
        return odd + rest + wire.data(EDGES, edges) + wire.data(COUNTS, counts) + limits
    return _buckets(shape) + odd + wire.double(5, shape.max) + wire.double(6, shape.min) + rest


def _buckets(shape: Histogram) -> bytes:
    """One by one: for 90 rows NumPy takes longer, and gives the GIL to the training thread, and waits for it, at each of its calls."""
    key, left_key, width_key, count_key = _KEYS
    found = []
    for left, width, count in zip(shape.edges.tolist(), (shape.edges[1:] - shape.edges[:-1]).tolist(), shape.counts.tolist(), strict=False):
        if count < 0x80:
            found.append(_ONE(key, _DOUBLES + 1, left_key, left, width_key, width, count_key, count))
        elif count < 0x4000:
            found.append(_TWO(key, _DOUBLES + 2, left_key, left, width_key, width, count_key, count & 0x7F | 0x80, count >> 7))
        else:
            number = wire.varint(count)
            found.append(_BUCKET(key, _DOUBLES + len(number), left_key, left, width_key, width, count_key) + number)
    return b"".join(found)
