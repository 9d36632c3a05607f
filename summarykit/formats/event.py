"""What the events of both viewers' schemas have alike: the stamp, the summary around the values, images and the name of a dtype."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from summarykit.formats import wire
from summarykit.formats.groups import values
from summarykit.shapes import Graph, Image, Point, Shape, Tensor

DTYPE = 1003
"""Field of ``Summary.Value`` for the dtype that was recorded, where that of the message cannot say it; viewers skip it."""

_SUMMARY, _GRAPH, _TAG = 5, 4, 1001    # of an event


def parts(point: Point, value: Callable[[Shape], list[Any]], graph: Callable[[Graph], bytes]) -> list[Any]:
    """A point's event, as buffers; ``value`` and ``graph`` give what the schema has for a shape, and for a run's own graph."""
    stamp = [wire.double(1, point.wall_time), wire.integer(2, point.step)]
    if isinstance(point.value, Graph) and not point.value.beside:
        return [*stamp, wire.data(_GRAPH, graph(point.value)), wire.text(_TAG, point.tag)]
    found = (wire.nested(1, [wire.text(1, tag), *value(shape)]) for tag, shape in values(point))
    return [*stamp, *wire.nested(_SUMMARY, chain.from_iterable(found))]


def image(shape: Image) -> list[bytes]:
    """A ``Summary.Image`` message."""
    size = wire.integer(1, shape.height) + wire.integer(2, shape.width) + wire.integer(3, shape.channels)
    return [size + wire.head(4, len(shape.encoded)), shape.encoded]


def recorded_dtype(shape: Tensor) -> list[bytes]:
    """The field of the dtype, where it is needed."""
    return [wire.text(DTYPE, shape.dtype)] if shape.dtype != shape.data.dtype.name else []
