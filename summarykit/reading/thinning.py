"""Fewer points for a picture: what the eye would see stays. Only pictures are thinned, never data that is given out."""

from __future__ import annotations

import numpy as np

from summarykit.shapes import Floats, Ints

LEAST = 5
"""Points that one bin may need."""


def thin(values: Floats, limit: int) -> Ints:
    """Which points to draw: of each bin of consecutive points the first, the last, the smallest, the largest and one that is not finite.

    Args:
        values: float64, shape ``[n]``.
        limit: how many points at most; where there are no more, all are kept.

    Returns:
        Their indices, int64, ascending.
    """
    if len(values) <= limit:
        return np.arange(len(values))
    bins = max(limit // LEAST, 1)
    width = -(-len(values) // bins)
    rows = -(-len(values) // width)
    padded = np.full(rows * width, np.nan)
    padded[: len(values)] = values
    table = padded.reshape(rows, width)
    finite = np.isfinite(table)
    begin = np.arange(rows) * width
    chosen = [
        begin,
        np.minimum(begin + width, len(values)) - 1,
        begin + np.where(finite, table, np.inf).argmin(1),
        begin + np.where(finite, table, -np.inf).argmax(1),
        begin + finite.argmin(1),
    ]
    found = np.unique(np.concatenate(chosen))
    return found[found < len(values)]
