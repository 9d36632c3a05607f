"""Finds where records begin again after damage: the next place whose length checksum and data checksum are both right."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from summarykit.formats import affine
from summarykit.formats.framing import HEADER
from summarykit.reading.spans import header_crc
from summarykit.shapes import Array, Ints

_NEAR, _FAR = 1 << 12, 1 << 20    # bytes looked at in one go: few at first, for most damage is short
_LONGEST = 1 << 40    # bytes; no record is longer, so the upper bytes of a length are zero
_header_at = struct.Struct("<QI").unpack_from


def header(data: Array, position: int) -> int | None:
    """The length of the record at ``position``; None where its checksum is wrong. Needs twelve bytes."""
    length, checksum = _header_at(data.data, position)
    return length if length < _LONGEST and header_crc(length) == checksum else None


def candidates(data: Array, start: int) -> Iterator[tuple[int, int]]:
    """Places from ``start`` on whose header is sound, ascending, each with the length it tells."""
    last, piece = len(data) - HEADER + 1, _NEAR
    while start < last:
        end = min(start + piece, last)
        yield from _in_piece(data, start, end)
        start, piece = end, min(4 * piece, _FAR)


def _in_piece(data: Array, begin: int, end: int) -> list[tuple[int, int]]:
    places = _plausible(data, begin, end)
    lengths = _windows(data, "<u8")[places]
    rows = np.ascontiguousarray(lengths).view(np.uint8).reshape(-1, 8)
    sound = affine.mask(affine.crc_rows(rows)) == _windows(data, "<u4")[places + 8]
    return list(zip(places[sound].tolist(), lengths[sound].tolist(), strict=True))


def _plausible(data: Array, begin: int, end: int) -> Ints:
    """Places whose 64-bit number is below ``_LONGEST``: its three upper bytes are zero."""
    upper = data[begin + 5 : end + 5] | data[begin + 6 : end + 6] | data[begin + 7 : end + 7]
    return np.flatnonzero(upper == 0) + begin


def _windows(data: Array, dtype: str) -> Array:
    width = np.dtype(dtype).itemsize
    return np.ndarray((len(data) - width + 1,), dtype, data, strides=(1,))
