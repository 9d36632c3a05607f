"""Times of a trace: microseconds as numbers of any kind become whole nanoseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from summarykit.shapes import Ints

MOST = 9.2e15
"""Microseconds below this fit 64 bits as nanoseconds."""


def nanoseconds(microseconds: Iterable[Any]) -> Ints:
    """Whole nanoseconds.

    Args:
        microseconds: integers, or floats of which the part below a nanosecond is rounding.

    Raises:
        ValueError: one is no number, not finite, or too large.
        TypeError: one is no number.
    """
    found = np.array(list(microseconds))
    if not len(found):
        return np.empty(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "if" or not (np.abs(found) < MOST).all():
        raise ValueError("times: numbers below 9.2e15 microseconds are allowed")
    if found.dtype.kind == "i":
        return found.astype(np.int64) * 1000
    whole = np.floor(found)    # apart: a float has no room for the nanoseconds since the epoch
    return whole.astype(np.int64) * 1000 + np.rint((found - whole) * 1000).astype(np.int64)


def is_time(value: Any) -> bool:
    """Whether ``nanoseconds`` takes it."""
    return type(value) in (int, float) and -MOST < value < MOST
