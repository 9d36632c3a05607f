"""A run of framed records, ready for the file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from summarykit.immutable import Immutable
from summarykit.shapes import Ints

_JOINED = 2**18    # bytes of records up to which one copy is cheaper than one system call per buffer
_SMALL = 2**12    # and of a buffer beside large ones


class Chunk(Immutable, eq=False):
    """Whole records, one behind the other.

    Attributes:
        data: the bytes, as buffers to be written in order.
        ends: int64, of NumPy or (a few) of the standard library: where each record ends, counted from the start of ``data``, ascending.
    """

    data: list[Any]
    ends: Ints | array[int]

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def split(self, records: int) -> tuple[Chunk, Chunk]:
        """The first ``records`` records, and the rest."""
        if records >= len(self.ends):
            return self, EMPTY
        joined = memoryview(b"".join(self.data))
        cut = int(self.ends[records - 1]) if records else 0
        return Chunk([joined[:cut]], self.ends[:records]), Chunk([joined[cut:]], np.subtract(self.ends[records:], cut))


def chunk(records: list[list[Any]]) -> Chunk:
    """Join records that are given as lists of buffers; large buffers are not copied."""
    sizes = [sum(memoryview(part).nbytes for part in parts) for parts in records]
    buffers = [part for parts in records for part in parts]
    return Chunk([b"".join(buffers)] if sum(sizes) < _JOINED else list(_joined(buffers)), running(sizes))


def _joined(buffers: Iterable[Any]) -> Iterator[Any]:
    """The same bytes in fewer buffers: what is small is joined to its neighbours."""
    for small, run in groupby(buffers, lambda buffer: memoryview(buffer).nbytes < _SMALL):
        if small:
            yield b"".join(run)
        else:
            yield from run


def running(sizes: list[int]) -> array[int]:
    """The running sums of few numbers: sooner done than by NumPy."""
    return array("q", accumulate(sizes))


EMPTY = Chunk([], np.empty(0, np.int64))
