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
        """Have no row yet, of columns of these types; one of whole numbers becomes wider where a number does not fit."""
        self._columns = [np.empty(0, dtype) for dtype in dtypes]
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, *columns: Array) -> None:
        """Add rows, as columns of one length."""
        end = self._count + len(columns[0])
        if end > len(self._columns[0]):
            self._resize(max(end, len(self._columns[0]) * 5 // 4))
        for place, column in enumerate(columns):
            self._columns[place] = kept = _wide_enough(self._columns[place], column)
            kept[self._count : end] = column
        self._count = end

    def take(self) -> list[Array]:
        """The columns; there are no rows afterwards."""
        self._resize(self._count)
        found, self._columns = self._columns, [np.empty(0, column.dtype) for column in self._columns]
        self._count = 0
        return found

    def _resize(self, length: int) -> None:
        for column in self._columns:    # a large one is moved by the system, without a copy
            column.resize(length, refcheck=False)


def _wide_enough(kept: Array, column: Array) -> Array:
    """The column that is kept, as wide as what comes needs it."""
    if kept.dtype.kind != "i" or kept.dtype.itemsize >= column.dtype.itemsize or not len(column):
        return kept
    for dtype in (kept.dtype, np.int32, np.int64):
        if np.iinfo(dtype).min <= column.min() and column.max() <= np.iinfo(dtype).max:
            return kept.astype(dtype, copy=False)
    return kept


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
