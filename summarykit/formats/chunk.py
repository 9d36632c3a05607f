"""A run of framed records, ready for the file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from summarykit.shapes import Ints

_JOINED = 2**18    # bytes up to which one copy is cheaper than one system call per buffer


@dataclass(frozen=True, eq=False)
class Chunk:
    """Whole records, one behind the other.

    Attributes:
        data: the bytes, as buffers to be written in order.
        ends: int64, where each record ends, counted from the start of ``data``, ascending.
    """

    data: list[Any]
    ends: Ints

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
        return Chunk([joined[:cut]], self.ends[:records]), Chunk([joined[cut:]], self.ends[records:] - cut)


def chunk(records: list[list[Any]]) -> Chunk:
    """Join records that are given as lists of buffers."""
    sizes = [sum(memoryview(part).nbytes for part in parts) for parts in records]
    buffers = [part for parts in records for part in parts]
    return Chunk([b"".join(buffers)] if sum(sizes) < _JOINED else buffers, running(sizes))


def running(sizes: list[int]) -> Ints:
    """The running sums of few numbers: sooner done than by NumPy."""
    return np.array(list(accumulate(sizes)), np.int64)


EMPTY = Chunk([], np.empty(0, np.int64))
