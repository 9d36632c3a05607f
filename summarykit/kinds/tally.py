"""Counts arrays of 8- and 16-bit numbers by their bit patterns: there are so few that everything else follows from the table.

For float16 this is the fast way (NumPy compares halves at 11 ns a value); for small integers, which lie on bucket edges by the thousand,
it is exact at constant speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.kinds.binning import BLOCK
from summarykit.shapes import Array, Floats, Ints

_WORTH = 1 << 13  # below this many values the table of 65,536 patterns costs more than it saves


def suits(values: Array) -> bool:
    """Tell whether counting bit patterns pays for this array."""
    return values.dtype.itemsize <= 2 and values.size >= _WORTH


def distinct(values: Array) -> tuple[Floats, Ints]:
    """Give the values that occur, as float64 and in the order of their bit patterns, and how often each does.

    Args:
        values: one axis, C-contiguous, native byte order, items of 1 or 2 bytes.
    """
    patterns = values.view(f"u{values.dtype.itemsize}")
    every = 1 << 8 * values.dtype.itemsize
    times = np.zeros(every, np.int64)
    for start in range(0, patterns.size, BLOCK):
        times += np.bincount(patterns[start : start + BLOCK], minlength=every)
    seen = np.flatnonzero(times)
    return _meaning(seen.astype(patterns.dtype), values.dtype), times[seen]


def _meaning(patterns: Array, dtype: np.dtype[Any]) -> Floats:
    return patterns.view(dtype).astype(np.float64)
