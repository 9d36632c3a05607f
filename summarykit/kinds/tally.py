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
_WORTH_PAIRS = 1 << 18  # and of bytes, that of their pairs


def suits(values: Array) -> bool:
    """Tell whether counting bit patterns pays for this array."""
    return values.dtype.itemsize <= 2 and values.size >= _WORTH


def distinct(values: Array) -> tuple[Floats, Ints]:
    """Give the values that occur, as float64 and in the order of their bit patterns, and how often each does.

    Args:
        values: one axis, C-contiguous, native byte order, items of 1 or 2 bytes.
    """
    patterns = values.view(f"u{values.dtype.itemsize}")
    times = _times_of_bytes(patterns) if patterns.itemsize == 1 and patterns.size >= _WORTH_PAIRS else _times(patterns)
    seen = np.flatnonzero(times)
    return _meaning(seen.astype(patterns.dtype), values.dtype), times[seen]


def _times(patterns: Array) -> Ints:
    """How often each pattern comes that there can be."""
    every = 1 << 8 * patterns.itemsize
    times = np.zeros(every, np.int64)
    for start in range(0, patterns.size, BLOCK):
        times += np.bincount(patterns[start : start + BLOCK], minlength=every)
    return times


def _times_of_bytes(patterns: Array) -> Ints:
    """The same of bytes, two at a time: counting is the dear part."""
    even = patterns.size // 2 * 2
    table = _times(patterns[:even].view(np.uint16)).reshape(256, 256)
    times: Ints = table.sum(axis=0) + table.sum(axis=1)
    times[patterns[even:]] += 1    # one at most
    return times


def _meaning(patterns: Array, dtype: np.dtype[Any]) -> Floats:
    return patterns.view(dtype).astype(np.float64)
