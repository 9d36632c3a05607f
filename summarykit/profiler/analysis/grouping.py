"""Rows with one key become one row: counts, sums, extremes and percentiles, without a loop over rows."""

from __future__ import annotations

import numpy as np

from summarykit.shapes import Array, Floats, Ints


class Groups:
    """Rows by key.

    Attributes:
        keys: the distinct keys, ascending.
        count: int64, rows of each.
    """

    def __init__(self, keys: Array) -> None:
        """Group rows.

        Args:
            keys: integers, shape ``[n]``.
        """
        self._order = np.argsort(keys, kind="stable")
        self.keys, self._first, self.count = np.unique(keys[self._order], return_index=True, return_counts=True)

    def sum(self, column: Array) -> Array:
        """The sum of each group."""
        return np.add.reduceat(column[self._order], self._first) if len(self.keys) else column[:0]

    def max(self, column: Array) -> Array:
        """The largest of each group."""
        return np.maximum.reduceat(column[self._order], self._first) if len(self.keys) else column[:0]

    def min(self, column: Array) -> Array:
        """The smallest of each group."""
        return np.minimum.reduceat(column[self._order], self._first) if len(self.keys) else column[:0]

    def first(self, column: Array) -> Array:
        """The first of each group."""
        return column[self._order][self._first]

    def percentile(self, column: Ints | Floats, *percents: float) -> list[Array]:
        """Percentiles of each group, the nearest value that is there (nearest rank)."""
        number = np.empty(len(column), np.int64)
        number[self._order] = np.repeat(np.arange(len(self.keys)), self.count)
        ascending = column[np.lexsort((column, number))]
        return [ascending[self._first + np.ceil(percent / 100 * self.count).astype(np.int64).clip(1) - 1] for percent in percents]
