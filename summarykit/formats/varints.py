"""Protocol buffers' varints, a column of numbers at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.shapes import Bytes, Ints

UInt64 = np.ndarray[Any, np.dtype[np.uint64]]

_LIMITS = np.uint64(1) << np.arange(7, 64, 7, dtype=np.uint64)


def sizes(numbers: UInt64) -> Ints:
    """How many bytes each takes: 1 to 10."""
    return np.searchsorted(_LIMITS, numbers, side="right") + 1


def groups(numbers: UInt64, size: int) -> Bytes:
    """The lowest ``size`` seven-bit groups of each, lowest first, without continuation bits: shape ``[n, size]``."""
    shifts = np.arange(0, 7 * size, 7, dtype=np.uint64)
    return ((numbers[:, None] >> shifts) & np.uint64(0x7F)).astype(np.uint8)
