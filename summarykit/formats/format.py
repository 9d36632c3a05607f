"""What every format offers."""

from __future__ import annotations

from typing import Any, Protocol

from summarykit.formats.names import Stem
from summarykit.formats.origin import Origin
from summarykit.shapes import Point, Shape


class Format(Protocol):
    """How shapes lie in the files of one viewer.

    Attributes:
        name: how users call it.
        scalar_field: field of ``Summary.Value`` that holds a scalar's float32; ``formats.scalars`` writes these by the thousand.
    """

    name: str
    scalar_field: int

    def file_name(self, prefix: str, stem: Stem, suffix: str) -> str:
        """Name of a file of this format."""

    def opening(self, origin: Origin, wall_time: float) -> list[bytes]:
        """Payloads of the records that every file begins with."""

    def shows(self, shape: Shape) -> bool:
        """Whether the viewer has a place for it."""

    def payload(self, point: Point) -> list[Any]:
        """A point's payload as buffers to be joined; what the viewer has no place for, in a field that it skips."""

    def parse(self, payload: bytes) -> list[Point]:
        """The points of one record's payload; nothing where it holds none."""
