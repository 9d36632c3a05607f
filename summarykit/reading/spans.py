"""Records of one length as the rows of a matrix, both checksums verified."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from summarykit.formats import affine, crc
from summarykit.formats.framing import FOOTER, HEADER
from summarykit.reading.frames import FRAME
from summarykit.shapes import Array, Ints

Flags = NDArray[np.bool_]

_LONG = 256    # payloads above it are checked one call each: look-up tables for so many columns would not fit the cache


@dataclass(frozen=True, eq=False)
class Span:
    """Sound records of one length.

    Attributes:
        rows: their payloads, uint8, shape ``[n, length]``; good until the next block is read.
        offsets: where each payload begins in the file, int64, ascending.
    """

    rows: Array
    offsets: Ints


@dataclass(frozen=True, eq=False)
class Long:
    """One sound record that is too long for a block: where its payload is."""

    offset: int
    length: int


@dataclass(frozen=True, eq=False)
class Group:
    """Records of one length, as found: ``members`` are their numbers in the walk."""

    members: Ints
    payloads: Array
    header_ok: Flags
    data_ok: Flags


def groups(data: Array, starts: Ints, lengths: Ints) -> Iterator[Group]:
    """Gather records by length and check them."""
    for members in _by_length(lengths):
        length = int(lengths[members[0]])
        rows = _gather(data, starts[members], length + FRAME)
        payloads = rows[:, HEADER : HEADER + length]
        header_ok = _column(rows, HEADER - 4) == header_crc(length)
        data_ok = _column(rows, HEADER + length) == masked_rows(payloads)
        yield Group(members, payloads, header_ok, data_ok)


def _by_length(lengths: Ints) -> list[Ints]:
    """Numbers of the records of each length, ascending."""
    if not len(lengths):
        return []
    narrow = lengths.astype(np.uint16) if lengths.max() < 1 << 16 else lengths    # NumPy sorts 16-bit integers by radix
    order = np.argsort(narrow, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)


def _gather(data: Array, starts: Ints, width: int) -> Array:
    if len(starts) == 1:
        return data[starts[0] : starts[0] + width].reshape(1, width)
    windows = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
    return windows[starts].view(np.uint8).reshape(len(starts), width)


def _column(rows: Array, start: int) -> Array:
    return np.ascontiguousarray(rows[:, start : start + FOOTER]).view("<u4").reshape(-1)


@lru_cache(maxsize=65536)
def header_crc(length: int) -> int:
    """The masked checksum that stands behind a length field."""
    return crc.mask(crc.crc32c(struct.pack("<Q", length)))


def masked_rows(payloads: Array) -> Array:
    """Masked CRC-32C of each row: uint32, shape ``[n]``."""
    if payloads.shape[1] <= _LONG and len(payloads) > 1:
        return affine.mask(affine.crc_rows(payloads))
    return np.fromiter((crc.mask(crc.crc32c(row)) for row in payloads), np.uint32, len(payloads))
