"""Shapes as MindSpore's ``Event`` messages, scalars apart (schema: ``proto/summary.proto``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.formats import blobs, event, varints, wire
from summarykit.registry import imported
from summarykit.shapes import Array, Blob, Graph, Histogram, Image, Ints, LossLandscape, Plugin, Point, Shape, Tensor

IMAGE, TENSOR, HISTOGRAM, LOSS_LANDSCAPE = 4, 8, 9, 10
SUM_SQUARES = 1002
EDGES, COUNTS, SMALLEST, LARGEST = 1000, 1001, 1002, 1003    # of a histogram

_MOST = float(np.finfo(np.float64).max) / 2    # the difference of two values up to this one is finite

# A bucket's message up to its count: its length in the histogram, two doubles, and the keys before them all.
_HEAD = np.dtype([
    ("field", "u1"), ("length", "u1"), ("left_key", "u1"), ("left", "<f8"), ("width_key", "u1"), ("width", "<f8"), ("count_key", "u1"),
])  # fmt: skip
_SHORT = np.dtype([*_HEAD.descr, ("count", "u1")])    # with a count of one byte
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
    """The buckets as rows of a matrix, each as long as the longest one; of a shorter count the end is left out."""
    counts = shape.counts.astype(np.uint64)
    if counts.max(initial=0) < 0x80:    # as in histograms of few values
        short = _filled(np.empty(len(counts), _SHORT), shape, 1)
        short["count"] = counts
        return short.tobytes()
    sizes = varints.sizes(counts)
    heads = _filled(np.empty(len(counts), _HEAD), shape, sizes)
    numbers = varints.groups(counts, int(sizes.max(initial=1)))
    places = np.arange(numbers.shape[1])
    numbers |= (places < sizes[:, None] - 1) * np.uint8(0x80)
    rows = np.empty((len(counts), _HEAD.itemsize + len(places)), np.uint8)
    rows[:, : _HEAD.itemsize], rows[:, _HEAD.itemsize :] = heads.view(np.uint8).reshape(-1, _HEAD.itemsize), numbers
    return rows[np.arange(rows.shape[1]) < _HEAD.itemsize + sizes[:, None]].tobytes()


def _filled(heads: Array, shape: Histogram, sizes: Ints | int) -> Array:
    """Fill in all that stands before the counts, which take so many bytes."""
    heads["field"], heads["left_key"], heads["width_key"], heads["count_key"] = _KEYS
    heads["length"] = _HEAD.itemsize - 2 + sizes
    heads["left"], heads["width"] = shape.edges[:-1], shape.edges[1:] - shape.edges[:-1]
    return heads
