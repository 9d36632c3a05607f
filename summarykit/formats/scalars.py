"""Scalar events, thousands at a time: tens of nanoseconds each, in NumPy.

Both formats write ``Event{summary{value{tag, number, [exact_value]}}, step, wall_time}`` and differ in the key of ``number`` only.
Protocol buffers may come in any field order; this one puts every byte that varies at a fixed distance from the record's *end*,
whatever the tag's length. So the records of one *family* (length of the step's varint; with or without ``exact_value``) are rows of a
matrix, right-aligned: a template per tag is copied, the varying columns are filled in, and the checksum is the template's XOR a look-up
per varying column (see ``affine``).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from summarykit.formats import affine, crc, framing, wire
from summarykit.formats.chunk import EMPTY, Chunk, chunk
from summarykit.formats.crc_table import UInt32
from summarykit.shapes import Floats, Ints

EXACT_VALUE = 1000
"""Field of ``Summary.Value`` that carries the float64 where float32 would round; viewers skip it."""

_LONGEST_TAG = 200    # bytes; a longer one is encoded alone, so that it does not widen every row of the matrix
_FEW = 24             # below so many records, one by one is cheaper than the matrix
_VARINT_LIMITS = np.uint64(1) << np.arange(7, 64, 7, dtype=np.uint64)

Rows = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ScalarBatch:
    """Scalars in columns of one length ``[n]``: tag, step (int64), wall_time (float64, seconds), value (float64)."""

    tags: Sequence[str]
    steps: Ints
    wall_times: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.tags)


def needs_exact(values: Floats) -> NDArray[np.bool_]:
    """Where float32 would change the value (a NaN survives)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (values.astype(np.float32) != values) & ~np.isnan(values)


def payload(number_field: int, tag: bytes, step: int, wall_time: float, value: float) -> bytes:
    """One event, the plain way: what the matrix must equal byte for byte."""
    body = wire.data(1, tag) + wire.single(number_field, value)
    if bool(needs_exact(np.array([value]))[0]):
        body += wire.double(EXACT_VALUE, value)
    return wire.data(5, wire.data(1, body)) + wire.integer(2, step) + wire.double(1, wall_time)


@dataclass
class _Family:
    """Templates of all tags for one length of the step's varint, with or without the exact value."""

    rows: Rows
    lengths: Ints
    crcs: UInt32


@dataclass
class ScalarEncoder:
    """Encodes batches for one format; remembers the tags it has seen.

    Attributes:
        number_field: field of ``Summary.Value`` that holds the float32.
    """

    number_field: int
    _ids: dict[str, int] = field(default_factory=dict)
    _tags: list[bytes] = field(default_factory=list)
    _families: dict[tuple[int, bool], _Family] = field(default_factory=dict)

    def encode(self, batch: ScalarBatch) -> Chunk:
        """Frame a batch, in its order."""
        if not len(batch):
            return EMPTY
        ids = None if len(batch) < _FEW else self._look_up(batch.tags)
        return self._one_by_one(batch) if ids is None else self._by_matrix(ids, batch)

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

    def _one_by_one(self, batch: ScalarBatch) -> Chunk:
        columns = batch.steps.tolist(), batch.wall_times.tolist(), batch.values.tolist()
        payloads = (payload(self.number_field, tag.encode(), *rest) for tag, *rest in zip(batch.tags, *columns, strict=True))
        return chunk([[framing.frame(each)] for each in payloads])

    def _by_matrix(self, ids: Ints, batch: ScalarBatch) -> Chunk:
        steps = batch.steps.view(np.uint64)
        step_sizes = np.searchsorted(_VARINT_LIMITS, steps, side="right") + 1
        exact = needs_exact(batch.values)
        kinds = step_sizes * 2 + exact
        parts = []
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            chosen = np.flatnonzero(kinds == kind) if len(kinds) else kinds
            family = self._family(kind // 2, bool(kind % 2))
            parts.append((chosen, _fill(family, ids[chosen], kind // 2, bool(kind % 2), steps, batch, chosen), family.lengths[ids[chosen]]))
        return _lay_out(parts, len(ids))

    def _family(self, step_size: int, exact: bool) -> _Family:
        family = self._families.get((step_size, exact))
        known = 0 if family is None else len(family.lengths)
        if family is None or known < len(self._tags):
            new = [_template(self.number_field, tag, step_size, exact) for tag in self._tags[known:]]
            family = self._families[step_size, exact] = _grow(family, new)
        return family


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


def _fill(family: _Family, ids: Ints, step_size: int, exact: bool, steps: Any, batch: ScalarBatch, chosen: Ints) -> Rows:
    """The records of one family, as right-aligned rows."""
    rows = family.rows.take(ids, axis=0)
    end = rows.shape[1] - framing.FOOTER
    values = batch.values[chosen]
    rows[:, end - 8 : end] = _as_bytes(batch.wall_times[chosen], "<f8")
    step_end = end - 9
    rows[:, step_end - step_size : step_end] |= _varints(steps[chosen], step_size)
    value_end = step_end - step_size - 1
    spans = [(end - 8, end), (step_end - step_size, step_end)]
    if exact:
        rows[:, value_end - 8 : value_end] = _as_bytes(values, "<f8")
        spans.append((value_end - 8, value_end))
        value_end -= 10
    with np.errstate(over="ignore"):
        rows[:, value_end - 4 : value_end] = _as_bytes(values, "<f4")
    spans.append((value_end - 4, value_end))
    rows[:, end:] = _as_bytes(affine.mask(_checksums(family, ids, rows, spans)), "<u4")
    return rows


def _checksums(family: _Family, ids: Ints, rows: Rows, spans: list[tuple[int, int]]) -> UInt32:
    """The template's checksum XOR what the varying columns add (their continuation bits are in the template already)."""
    content = rows[:, : rows.shape[1] - framing.FOOTER]
    total = family.crcs[ids]
    for start, stop in spans:
        total = total ^ affine.column_crc(content, start, stop)
    start, stop = spans[1]
    blank = np.full((1, content.shape[1]), 0, np.uint8)
    blank[0, start : stop - 1] = 0x80
    return total ^ affine.column_crc(blank, start, stop)


def _as_bytes(column: Any, dtype: str) -> Rows:
    column = np.ascontiguousarray(column, dtype)
    return column.view(np.uint8).reshape(len(column), -1)


def _varints(numbers: NDArray[np.uint64], size: int) -> Rows:
    """The seven-bit groups of each number, lowest first, without continuation bits."""
    shifts = np.arange(0, 7 * size, 7, dtype=np.uint64)
    return ((numbers[:, None] >> shifts) & np.uint64(0x7F)).astype(np.uint8)


def _lay_out(parts: list[tuple[Ints, Rows, Ints]], count: int) -> Chunk:
    """Put the rows of all families, in their original order, one behind the other."""
    lengths = np.empty(count, np.int64)
    for chosen, _, sizes in parts:
        lengths[chosen] = sizes
    ends = np.cumsum(lengths)
    out = np.empty(int(ends[-1]), np.uint8)
    starts = ends - lengths
    for chosen, rows, sizes in parts:
        for size in np.flatnonzero(np.bincount(sizes)).tolist():
            picked = np.flatnonzero(sizes == size)
            records = np.ascontiguousarray(rows[picked, rows.shape[1] - size :])
            _windows(out, size)[starts[chosen[picked]]] = records.view(f"V{size}").reshape(-1)
    return Chunk([out.data], ends)


def _windows(buffer: NDArray[np.uint8], width: int) -> NDArray[np.void]:
    """Every run of ``width`` bytes of a buffer as one item, overlapping: assigning to item i copies to bytes ``[i, i + width)``."""
    return np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, strides=(1,))
