"""Points as framed records, one for each format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarykit.formats import framing
from summarykit.formats.chunk import EMPTY, Chunk, chunk
from summarykit.formats.format import Format
from summarykit.shapes import Point

Records = tuple[list[Any] | None, ...]
"""For each format the buffers of one framed record, or None where its viewer would not show it."""


def lay_out(point: Point, layouts: Sequence[Format]) -> Records:
    """One point for those formats whose viewers show it; where none does for the first, for our own reader. Large arrays are not copied."""
    showing = [layout for layout in layouts if layout.shows(point.value)] or layouts[:1]
    return tuple(framing.framed(layout.payload(point)) if layout in showing else None for layout in layouts)


def chunks(rows: Sequence[Records]) -> list[Chunk]:
    """Several points, all of which go into the same formats, as one chunk for each format."""
    return [EMPTY if column[0] is None else chunk(list(column)) for column in zip(*rows, strict=True)]
