"""Scalars on their way: tag, value, step and wall time of one after the other, in one flat list.

No object is made for a scalar: the tuple that ``extend`` takes goes back to the interpreter's free list at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from summarykit.formats.scalars import ScalarBatch

WIDTH = 4
"""Items of one scalar."""


def flatten(tags: Collection[str], values: Iterable[float], step: int, wall_time: float) -> list[Any]:
    """The scalars of one step, as many values as tags."""
    flat: list[Any] = [None, None, step, wall_time] * len(tags)
    flat[0::WIDTH] = tags
    flat[1::WIDTH] = values
    return flat


def columns(flat: list[Any]) -> ScalarBatch:
    """The scalars in columns."""
    steps, wall_times = np.array(flat[2::WIDTH], np.int64), np.array(flat[3::WIDTH], np.float64)
    return ScalarBatch(flat[0::WIDTH], steps, wall_times, np.array(flat[1::WIDTH], np.float64))
