"""The files that TensorBoard shows: names, openings, and where a shape has a place (schema: ``proto/tensorboard.proto``).

How anything but a number is written, and how all is read, is imported when it is first asked for: most runs begin with numbers.
"""

from __future__ import annotations

from typing import Any

from summarykit.formats import names, origin, wire
from summarykit.formats.scalar_event import payload
from summarykit.registry import imported
from summarykit.shapes import Blob, LossLandscape, Point, Scalar, Shape

VERSION = "brain.Event:2"
LAST_STEP = 2**63 - 1
SIMPLE_VALUE = 2


class TensorBoardFormat:
    """Files that TensorBoard opens."""

    name = "tensorboard"
    scalar_field = SIMPLE_VALUE

    def file_name(self, prefix: str, stem: names.Stem, suffix: str) -> str:
        """Name of a file of this format."""
        return names.tensorboard(prefix, stem)

    def opening(self, origin: origin.Origin, wall_time: float) -> list[bytes]:
        """Version, then the session log by which TensorBoard tells a restart.

        It purges at the *second* START of a run every step from that one's on. A START at the last possible step purges nothing, so two
        live writers keep all their points; a writer that resumes at N adds a START at N, which so is the second one even where the
        files before it have none.
        """
        stamp = wire.double(1, wall_time)
        version = stamp + wire.text(3, VERSION) + wire.data(10, wire.text(1, "summarykit")) + origin.encode()
        first_file = origin.segment == 0
        steps = [LAST_STEP] + ([origin.resume_step] if origin.resume_step is not None and first_file else [])
        return [version, *(stamp + wire.integer(2, step) + wire.data(7, wire.integer(1, 1)) for step in steps)]

    def shows(self, shape: Shape) -> bool:
        """Whether TensorBoard has a place for it."""
        return not isinstance(shape, (Blob, LossLandscape))

    def payload(self, point: Point) -> list[Any]:
        """A point's event, as buffers."""
        if isinstance(point.value, Scalar):
            return [payload(SIMPLE_VALUE, point.tag.encode(), point.step, point.wall_time, point.value.value)]
        parts: list[Any] = imported("summarykit.formats.tensorboard.event").parts(point)
        return parts

    def parse(self, payload: bytes) -> list[Point]:
        """The points of one record's payload."""
        from summarykit.formats.tensorboard.parse import parse

        return parse(payload)
