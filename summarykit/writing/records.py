"""Points as framed records, one for each format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from summarykit.formats import framing
from summarykit.formats.chunk import EMPTY, Chunk, chunk
from summarykit.formats.format import Format
from summarykit.shapes import Point

_T = TypeVar("_T")
_R = TypeVar("_R")

Records = tuple[list[Any] | None, ...]
"""For each format the buffers of one framed record, or None where its viewer would not show it."""


def lay_out(point: Point, layouts: Sequence[Format]) -> Records:
    """One point for those formats whose viewers show it; where none does for the first, for our own reader. Large arrays are not copied."""
    showing = [layout for layout in layouts if layout.shows(point.value)] or layouts[:1]
    payloads = [layout.payload(point) if layout in showing else None for layout in layouts]
    return tuple(each_once(framing.framed, payloads))


def joined(records: Records) -> Records:
    """The same records in one buffer each."""
    return tuple(each_once(lambda parts: [b"".join(parts)], records))


def chunks(rows: Sequence[Records]) -> list[Chunk]:
    """Several points, all of which go into the same formats, as one chunk for each format."""
    columns = [None if column[0] is None else list(column) for column in zip(*rows, strict=True)]
    return [each or EMPTY for each in each_once(chunk, columns)]


def each_once(make: Callable[[_T], _R], formats: Sequence[_T | None]) -> list[_R | None]:
    """Make something of what each format has, if any; once where two formats have the same, as they have of images."""
    made: list[_R | None] = []
    for place, each in enumerate(formats):
        made.append(made[-1] if place and each == formats[place - 1] else None if each is None else make(each))
    return made
