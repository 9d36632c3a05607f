"""Thousands of records at once: those of equal length and equal structure are decoded column by column.

A layout is learned from the first record; every byte but the varying ones (content, step, wall time, tag) must equal that record's.
Records that differ are tried against the next one's layout; what is rare is left to the walk record by record. Of what is no scalar only
the head is decoded: what and where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats.dialect import Dialect
from summarykit.reading import wire
from summarykit.reading.index import Entry, Findings
from summarykit.reading.layout import Layout, Slot, layout
from summarykit.reading.spans import Flags, Span
from summarykit.reading.track import Track
from summarykit.shapes import Array, Floats, Ints

_FEW = 4       # fewer records than this are cheaper one by one
_SHAPES = 16   # layouts tried among records of one length; what fits none of them is walked one by one


Rest = Callable[[Any, int], None]
"""Takes a payload (bytes-like) and its offset in the file."""


class Chunk(NamedTuple):
    """Scalars of one tag."""

    tag: str
    track: Track


def decode(span: Span, dialect: Dialect, into: Findings, rest: Rest) -> Iterator[Chunk]:
    """Decode the scalars of a span.

    Args:
        span: sound records of one length.
        dialect: the format's field numbers.
        into: takes entries for what is no scalar.
        rest: called with each record that is not decoded here.
    """
    rows, offsets = span.rows, span.offsets
    for _ in range(_SHAPES):
        first, found = _first_layout(rows, offsets, dialect, rest)
        rows, offsets = rows[first:], offsets[first:]
        if found is None:
            return
        same = _alike(rows, found)
        yield from _columns(rows[same], offsets[same], found, into)
        rows, offsets = rows[~same], offsets[~same]
        if not len(rows):
            return
    for row, offset in zip(rows, offsets.tolist(), strict=True):
        rest(row.data, offset)


def _first_layout(rows: Array, offsets: Ints, dialect: Dialect, rest: Rest) -> tuple[int, Layout | None]:
    """The first row that has a layout; those before it go to ``rest``, and so do a few last ones."""
    for number in range(len(rows)):
        found = layout(rows[number].data, dialect) if len(rows) - number >= _FEW else None
        if found is not None:
            return number, found
        rest(rows[number].data, int(offsets[number]))
    return len(rows), None


def _alike(rows: Array, found: Layout) -> Flags:
    """Which rows have the structure of the first; several scalars in one event must have its tags, too."""
    free = found.varying(rows.shape[1])
    step = rows[:, found.step]
    same = (step[:, :-1] > 0x7F).all(axis=1) & (step[:, -1:] < 0x80).all(axis=1)
    edges = np.flatnonzero(np.diff(free.astype(np.int8), prepend=1, append=1))    # begins and ends of what must be equal
    for begin, end in edges.reshape(-1, 2).tolist():
        same &= (rows[:, begin:end] == rows[0, begin:end]).all(axis=1)
    return np.asarray(same)


def _columns(rows: Array, offsets: Ints, found: Layout, into: Findings) -> Iterator[Chunk]:
    steps = _varints(rows[:, found.step])
    wall_times = _numbers(rows, found.wall_time.start, "<f8") if found.wall_time.stop else np.zeros(len(rows))
    for slot in found.slots:
        values = _numbers(rows, slot.number, slot.dtype) if slot.dtype else wall_times
        for tag, members in _by_tag(rows, slot, alone=len(found.slots) == 1):
            track = Track(offsets[members], steps[members], wall_times[members], values[members])
            if slot.plugin is not None:
                into.plugin(tag, (int(track.offsets[0]), *slot.plugin))
            if slot.dtype:
                yield Chunk(tag, track)
            else:
                into.entries += _entries(tag, track, slot)


def _entries(tag: str, track: Track, slot: Slot) -> list[Entry]:
    start, length = slot.message.start, slot.message.stop - slot.message.start
    columns = zip(track.offsets.tolist(), track.steps.tolist(), track.wall_times.tolist(), strict=True)
    return [Entry(slot.kind, tag, offset, step, wall_time, offset + start, length) for offset, step, wall_time in columns]


def _by_tag(rows: Array, slot: Slot, *, alone: bool) -> Iterator[tuple[str, Ints | slice]]:
    """The tags among the rows, each with its rows."""
    tags = rows[:, slot.tag]
    if not alone or (tags == tags[0]).all():
        yield wire.text(tags[0].tobytes()), slice(None)
        return
    words = _words(tags)
    order, cuts = _sort_equal(words)
    for members in np.split(order, cuts):
        yield wire.text(tags[members[0]].tobytes()), members


def _words(tags: Array) -> Array:
    """Tags as rows of 64-bit words, filled up with zeros (all are equally long)."""
    padded = np.zeros((len(tags), -(-tags.shape[1] // 8) * 8), np.uint8)
    padded[:, : tags.shape[1]] = tags
    return padded.view(np.uint64)


def _sort_equal(words: Array) -> tuple[Ints, Ints]:
    """An order that brings equal rows together, ascending within, and where they change.

    Sorting by a hash is enough in all but one of 2**64 cases; rows are compared, so that even then none is taken for another.
    """
    keys = np.zeros(len(words), np.uint64)
    for column in words.T:
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    order = np.argsort(keys, kind="stable")
    ordered = words[order]
    return order, np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1


def _numbers(rows: Array, start: int, dtype: str) -> Floats:
    column = np.ascontiguousarray(rows[:, start : start + int(dtype[-1])])
    return column.view(dtype).reshape(-1).astype(np.float64)


def _varints(columns: Array) -> Ints:
    total = np.zeros(len(columns), np.uint64)
    for place in range(columns.shape[1]):
        total |= (columns[:, place] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * place)
    return total.view(np.int64)
