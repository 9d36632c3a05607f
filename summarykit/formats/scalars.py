"""Scalar events, thousands at a time: tens of nanoseconds each, in NumPy.

Both formats write ``Event{summary{value{tag, number, [exact_value]}}, step, wall_time}`` and differ in the key of ``number`` only.
Protocol buffers may come in any field order; this one puts every byte that varies at a fixed distance from the record's *end*,
whatever the tag's length. So the records of one *family* (length of the step's varint; with or without ``exact_value``) are rows of a
matrix, right-aligned: a template per tag is copied, the varying columns are filled in, and the checksum is the template's XOR a look-up
per varying column (see ``affine``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats import affine, crc, framing, varints, wire
from summarykit.formats.chunk import EMPTY, Chunk, running
from summarykit.formats.crc_table import UInt32
from summarykit.formats.scalar_event import EXACT_VALUE, number_key, records
from summarykit.immutable import Immutable
from summarykit.shapes import Bytes, Floats, Ints

FEW = 24
"""Records below which one by one is cheaper than the matrix."""

_LONGEST_TAG = 200    # bytes; a longer one is encoded alone, so that it does not widen every row of the matrix


class ScalarBatch(Immutable, eq=False):
    """Scalars in columns of one length ``[n]``: tag, step (int64), wall_time (float64, seconds), value (float64)."""

    tags: Sequence[str]
    steps: Ints
    wall_times: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.tags)


def needs_exact(values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where float32 would change the value (a NaN survives)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (values.astype(np.float32) != values) & ~np.isnan(values)


class _Family(NamedTuple):
    """Templates of all tags for one length of the step's varint, with or without the exact value."""

    rows: Bytes
    lengths: Ints
    crcs: UInt32


class _Records(NamedTuple):
    """The records of one family in a batch: right-aligned rows, and where each belongs."""

    chosen: Ints
    sizes: Ints
    rows: Bytes
    crcs: UInt32
    key_column: int

    def rekey(self, old: int, new: int) -> None:
        """Turn the rows into those of the format that keeps the number in field ``new``, and complete their checksums."""
        end = self.rows.shape[1] - framing.FOOTER
        difference = number_key(old)[0] ^ number_key(new)[0]
        self.rows[:, self.key_column] ^= np.uint8(difference)
        self.crcs[:] ^= affine.byte_table(end - 1 - self.key_column)[difference]
        self.rows[:, end:] = _as_bytes(affine.mask(self.crcs), "<u4")


class ScalarEncoder:
    """Encodes batches for several formats at once; remembers the tags it has seen."""

    def __init__(self, number_fields: Sequence[int]) -> None:
        """``number_fields``: for each format the field of ``Summary.Value``, below 16, that holds the float32."""
        self.number_fields = number_fields
        self._ids: dict[str, int] = {}
        self._tags: list[bytes] = []
        self._families: dict[tuple[int, bool], _Family] = {}

    def encode(self, batch: ScalarBatch) -> list[Chunk]:
        """Frame a batch, in its order: one chunk per format."""
        if not len(batch):
            return [EMPTY for _ in self.number_fields]
        ids = None if len(batch) < FEW else self._look_up(batch.tags)
        if ids is None:
            return one_by_one(self.number_fields, batch)
        return self._by_matrix(ids, batch)

    def _look_up(self, tags: Sequence[str]) -> Ints | None:
        """Number of each tag; None where one is too long for the matrix."""
        try:
            return np.fromiter(map(self._ids.__getitem__, tags), np.int64, len(tags))
        except KeyError:
            for tag in dict.fromkeys(tags):
                if tag not in self._ids:
                    raw = tag.encode()
                    if len(raw) > _LONGEST_TAG:
                        return None
                    self._ids[tag] = len(self._tags)
                    self._tags.append(raw)
            return self._look_up(tags)

    def _by_matrix(self, ids: Ints, batch: ScalarBatch) -> list[Chunk]:
        exact = needs_exact(batch.values)
        kinds = varints.sizes(batch.steps.view(np.uint64)) * 2 + exact
        parts = []
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            chosen = np.flatnonzero(kinds == kind)
            parts.append(_fill(self._family(kind // 2, bool(kind % 2)), ids[chosen], kind // 2, bool(kind % 2), batch, chosen))
        chunks, present = [], self.number_fields[0]
        for number_field in self.number_fields:
            for part in parts:
                part.rekey(present, number_field)
            chunks.append(_lay_out(parts, len(ids)))
            present = number_field
        return chunks

    def _family(self, step_size: int, exact: bool) -> _Family:
        family = self._families.get((step_size, exact))
        known = 0 if family is None else len(family.lengths)
        if family is None or known < len(self._tags):
            new = [_template(self.number_fields[0], tag, step_size, exact) for tag in self._tags[known:]]
            family = self._families[step_size, exact] = _grow(family, new)
        return family


def one_by_one(number_fields: Sequence[int], batch: ScalarBatch) -> list[Chunk]:
    """Frame a batch the plain way: one chunk per format."""
    return few(number_fields, batch.tags, batch.steps.tolist(), batch.wall_times.tolist(), batch.values.tolist())


def few(
    number_fields: Sequence[int], tags: Sequence[str], steps: Iterable[int], wall_times: Iterable[float], values: Iterable[float]
) -> list[Chunk]:
    """The same from plain Python numbers: where there are few, they should not become arrays."""
    columns = zip(tags, steps, wall_times, values, strict=True)
    rows = [records(number_fields, tag.encode(), step, wall_time, value) for tag, step, wall_time, value in columns]
    ends = running([len(row[0]) for row in rows])
    return [Chunk([b"".join(column)], ends) for column in zip(*rows, strict=True)]


def _template(number_field: int, tag: bytes, step_size: int, exact: bool) -> bytes:
    """A framed record with zeros where bytes vary; its last four bytes are the unmasked checksum of the payload."""
    body = wire.data(1, tag) + wire.single(number_field, 0.0) + (wire.double(EXACT_VALUE, 0.0) if exact else b"")
    step = wire.key(2, wire.VARINT) + bytes([0x80] * (step_size - 1) + [0])
    content = wire.data(5, wire.data(1, body)) + step + wire.double(1, 0.0)
    length = struct.pack("<Q", len(content))
    return length + crc.masked(length) + content + struct.pack("<I", crc.crc32c(content))


def _grow(family: _Family | None, templates: list[bytes]) -> _Family:
    old = [] if family is None else [row[len(row) - n :].tobytes() for row, n in zip(family.rows, family.lengths.tolist(), strict=True)]
    every = old + templates
    width = max(map(len, every))
    width += width % 2    # rows of whole 16-bit words
    rows = np.frombuffer(b"".join(template.rjust(width, b"\0") for template in every), np.uint8).reshape(len(every), width)
    crcs = np.ascontiguousarray(rows[:, -4:]).view("<u4").reshape(-1)
    return _Family(rows, np.fromiter(map(len, every), np.int64, len(every)), crcs)


def _fill(family: _Family, ids: Ints, step_size: int, exact: bool, batch: ScalarBatch, chosen: Ints) -> _Records:
    """Copy the templates and put in what varies."""
    rows = family.rows.take(ids, axis=0)
    content = rows[:, : rows.shape[1] - framing.FOOTER]
    end = content.shape[1]
    crcs = family.crcs[ids]
    values = batch.values[chosen]

    def put(stop: int, column: Bytes) -> None:
        """Write a column of bytes so that it ends at ``stop``, and bring the checksums up to date."""
        span = slice(stop - column.shape[1], stop)
        content[:, span] |= column
        crcs.__ixor__(affine.column_crc(column, end - stop))

    put(end, _as_bytes(batch.wall_times[chosen], "<f8"))
    put(end - 9, varints.groups(batch.steps[chosen].view(np.uint64), step_size))
    number_end = end - 10 - step_size
    if exact:
        put(number_end, _as_bytes(values, "<f8"))
        number_end -= 10
    with np.errstate(over="ignore"):
        put(number_end, _as_bytes(values, "<f4"))
    return _Records(chosen, family.lengths[ids], rows, crcs, number_end - 5)


def _as_bytes(column: Any, dtype: str) -> Bytes:
    column = np.ascontiguousarray(column, dtype)
    return column.view(np.uint8).reshape(len(column), -1)


def _lay_out(parts: list[_Records], count: int) -> Chunk:
    """Put the rows of all families, in their original order, one behind the other."""
    lengths = np.empty(count, np.int64)
    for part in parts:
        lengths[part.chosen] = part.sizes
    ends = np.cumsum(lengths)
    out = np.empty(int(ends[-1]), np.uint8)
    starts = ends - lengths
    for part in parts:
        for size in np.flatnonzero(np.bincount(part.sizes)).tolist():
            picked = np.flatnonzero(part.sizes == size)
            records = np.ascontiguousarray(part.rows[picked, -size:])
            _windows(out, size)[starts[part.chosen[picked]]] = records.view(f"V{size}").reshape(-1)
    return Chunk([out.data], ends)


def _windows(buffer: Bytes, width: int) -> np.ndarray[Any, np.dtype[np.void]]:
    """Every run of ``width`` bytes of a buffer as one item, overlapping: assigning to item i copies to bytes ``[i, i + width)``."""
    return np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, strides=(1,))
