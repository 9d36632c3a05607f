"""The files that MindInsight shows: names, openings, and where a shape has a place (schema: ``proto/summary.proto``).

How anything but a number is written, and how all is read, is imported when it is first asked for: most runs begin with numbers.
"""

from __future__ import annotations

from typing import Any

from summarykit.formats import names, origin, wire
from summarykit.formats.scalar_event import payload
from summarykit.registry import imported
from summarykit.shapes import Blob, Group, Plugin, Point, Scalar, Shape

VERSION = "MindSpore.Event:1"
SCALAR_VALUE = 3


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
        return not isinstance(shape, (Plugin, Group, Blob)) or as_number(shape) is not None

    def payload(self, point: Point) -> list[Any]:
        """A point's event, as buffers."""
        number = as_number(point.value)
        if number is not None:
            return [payload(SCALAR_VALUE, point.tag.encode(), point.step, point.wall_time, number)]
        parts: list[Any] = imported("summarykit.formats.mindspore.event").parts(point)
        return parts

    def parse(self, payload: bytes) -> list[Point]:
        """The points of one record's payload."""
        from summarykit.formats.mindspore.parse import parse

        return parse(payload)


def as_number(shape: Shape) -> float | None:
    """The number that MindInsight shows as a scalar; None where it is none. A scalar of TensorFlow 2 is a tensor of one element."""
    if isinstance(shape, Plugin) and shape.plugin == "scalars" and shape.data.size == 1:
        return float(shape.data.reshape(()))
    return shape.value if isinstance(shape, Scalar) else None
