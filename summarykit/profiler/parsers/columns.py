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


class Growing:
    """Columns of one length that grow: in one piece each, since what lies in many small ones leaves holes in memory."""

    def __init__(self, *dtypes: type[np.generic]) -> None:
        """Have no row yet, of columns of these types."""
        self._columns = [np.empty(0, dtype) for dtype in dtypes]
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, *columns: Array) -> None:
        """Add rows, as columns of one length."""
        end = self._count + len(columns[0])
        if end > len(self._columns[0]):
            for place, column in enumerate(self._columns):    # one by one: no more than one is there twice
                self._columns[place] = self._larger(column, max(end, len(column) * 3 // 2))
        for kept, column in zip(self._columns, columns, strict=True):
            kept[self._count : end] = column
        self._count = end

    def take(self) -> list[Array]:
        """The columns; there are no rows afterwards."""
        found, self._columns = [column[: self._count] for column in self._columns], [column[:0] for column in self._columns]
        self._count = 0
        return found

    def _larger(self, column: Array, length: int) -> Array:
        larger = np.empty(length, column.dtype)
        larger[: self._count] = column[: self._count]
        return larger


class SpanColumns:
    """Spans as they come."""

    def __init__(self) -> None:
        """Collect nothing yet."""
        self._columns = Growing(*_DTYPES)

    def __len__(self) -> int:
        return len(self._columns)

    def add(self, start: Ints, duration: Ints, name: Array, category: Array, lane: Array, correlation: Ints) -> None:
        """Add spans: the columns of ``Spans``, of one length."""
        self._columns.add(start, duration, name, category, lane, correlation)

    def spans(self, names: list[str], lanes: list[Lane]) -> Spans:
        """All of them. The collection is empty afterwards, so that nothing is in memory twice.

        Args:
            names: the texts that the spans number.
            lanes: the rows that the spans number.
        """
        start, duration, name, category, lane, correlation = self._columns.take()
        return Spans(start, duration, name, category, lane, correlation, names, lanes)
