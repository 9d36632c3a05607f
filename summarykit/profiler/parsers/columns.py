"""Collects spans in columns, batch by batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import count

import numpy as np

from summarykit.profiler.recording import Lane, Spans
from summarykit.shapes import Array, Ints

_DTYPES = (np.int64, np.int64, np.int32, np.uint8, np.int32, np.int64)


def numbering() -> defaultdict[Hashable, int]:
    """A table that gives each key a number when it is first asked for it: 0, 1, 2 and so on."""
    return defaultdict(count().__next__)


def numbers(table: defaultdict[Hashable, int], keys: Iterable[Hashable]) -> Array:
    """The number of each key: int32."""
    return np.fromiter(map(table.__getitem__, keys), np.int32)


class SpanColumns:
    """Spans as they come."""

    def __init__(self) -> None:
        """Collect nothing yet."""
        self._columns: tuple[list[Array], ...] = tuple([] for _ in _DTYPES)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, start: Ints, duration: Ints, name: Array, category: Array, lane: Array, correlation: Ints) -> None:
        """Add spans: the columns of ``Spans``, of one length."""
        for kept, column in zip(self._columns, (start, duration, name, category, lane, correlation), strict=True):
            kept.append(column)
        self._count += len(start)

    def spans(self, names: list[str], lanes: list[Lane]) -> Spans:
        """All of them. The collection is empty afterwards, so that nothing is in memory twice.

        Args:
            names: the texts that the spans number.
            lanes: the rows that the spans number.
        """
        columns = []
        for kept, dtype in zip(self._columns, _DTYPES, strict=True):
            columns.append(np.concatenate([np.empty(0, dtype), *kept]).astype(dtype, copy=False))
            kept.clear()
        start, duration, name, category, lane, correlation = columns
        return Spans(start, duration, name, category, lane, correlation, names, lanes)
