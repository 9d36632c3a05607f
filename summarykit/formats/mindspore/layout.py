"""Shapes as MindSpore's ``Event`` messages, which MindInsight shows (schema: ``proto/summary.proto``)."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from summarykit.formats import blobs, names, origin, wire
from summarykit.formats.groups import values
from summarykit.formats.mindspore import graph, landscape
from summarykit.formats.mindspore.tensors import DATA_TYPES, tensor
from summarykit.formats.scalars import payload
from summarykit.shapes import Blob, Graph, Group, Histogram, Image, LossLandscape, Plugin, Point, Scalar, Shape, Tensor

__all__ = ["DATA_TYPES", "MindSporeFormat", "histogram"]

VERSION = "MindSpore.Event:1"
GRAPH, EVENT_TAG = 4, 1001    # of an event
SCALAR_VALUE, IMAGE, TENSOR, HISTOGRAM, LOSS_LANDSCAPE = 3, 4, 8, 9, 10
SUM_SQUARES, DTYPE = 1002, 1003


class MindSporeFormat:
    """Files that MindInsight opens."""

    name = "mindspore"
    scalar_field = SCALAR_VALUE

    def file_name(self, prefix: str, stem: names.Stem, suffix: str) -> str:
        """Name of a file of this format."""
        return names.mindspore(prefix, stem, suffix)

    def opening(self, origin: origin.Origin, wall_time: float) -> list[bytes]:
        """The version record, with the origin."""
        return [wire.double(1, wall_time) + wire.text(3, VERSION) + origin.encode()]

    def shows(self, shape: Shape) -> bool:
        """Whether MindInsight has a place for it."""
        return not isinstance(shape, (Plugin, Group, Blob)) or _is_number(shape)

    def payload(self, point: Point) -> list[Any]:
        """A point's event, as buffers."""
        if isinstance(point.value, Scalar):
            return [payload(SCALAR_VALUE, point.tag.encode(), point.step, point.wall_time, point.value.value)]
        if isinstance(point.value, Plugin) and _is_number(point.value):
            return self.payload(replace(point, value=Scalar(float(point.value.data.reshape(())))))
        stamp = [wire.double(1, point.wall_time), wire.integer(2, point.step)]
        if isinstance(point.value, Graph) and not point.value.beside:
            return [*stamp, wire.data(GRAPH, graph.encode(point.value)), wire.text(EVENT_TAG, point.tag)]
        found = (wire.nested(1, [wire.text(1, tag), *_value(shape)]) for tag, shape in values(point))
        return [*stamp, *wire.nested(5, chain.from_iterable(found))]

    def parse(self, payload: bytes) -> list[Point]:
        """The points of one record's payload."""
        from summarykit.formats.mindspore.parse import parse

        return parse(payload)


def _is_number(shape: Shape) -> bool:
    """Whether it is a scalar in the form of TensorFlow 2."""
    return isinstance(shape, Plugin) and shape.plugin == "scalars" and shape.data.size == 1


def _value(shape: Shape) -> list[Any]:
    if isinstance(shape, Image):
        return [wire.data(IMAGE, b"".join(_image(shape)))]
    if isinstance(shape, Histogram):
        return [wire.data(HISTOGRAM, histogram(shape)), wire.double(SUM_SQUARES, shape.sum_squares)]
    if isinstance(shape, Tensor):
        return [*wire.nested(TENSOR, tensor(shape)), *_recorded_dtype(shape)]
    if isinstance(shape, LossLandscape):
        return [wire.data(LOSS_LANDSCAPE, landscape.encode(shape))]
    if isinstance(shape, Graph):
        return blobs.encode(graph.as_blob(shape))
    assert isinstance(shape, (Plugin, Blob)), f"{type(shape).__name__} is no value of an event"
    return blobs.encode(shape)


def _image(image: Image) -> list[bytes]:
    return [wire.integer(1, image.height), wire.integer(2, image.width), wire.integer(3, image.channels), wire.data(4, image.encoded)]


def histogram(shape: Histogram) -> bytes:
    """A ``Summary.Histogram`` message."""
    lefts, widths = shape.edges[:-1].tolist(), np.diff(shape.edges).tolist()
    buckets = (
        wire.data(1, struct.pack("<BdBdB", 0x09, left, 0x11, width, 0x18) + wire.varint(count))
        for left, width, count in zip(lefts, widths, shape.counts.tolist(), strict=True)
    )
    counts = wire.integer(2, shape.nan) + wire.integer(3, shape.pos_inf) + wire.integer(4, shape.neg_inf)
    totals = wire.double(5, shape.max) + wire.double(6, shape.min) + wire.double(7, shape.sum) + wire.integer(8, shape.count)
    return b"".join(buckets) + counts + totals


def _recorded_dtype(shape: Tensor) -> list[bytes]:
    return [wire.text(DTYPE, shape.dtype)] if shape.dtype != shape.data.dtype.name else []

