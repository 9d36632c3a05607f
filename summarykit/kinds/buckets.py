"""How many buckets a histogram has, and where they begin and end."""

from __future__ import annotations

import math

import numpy as np

from summarykit.shapes import Floats, Ints

MOST = 90
"""Buckets of one histogram, at most."""

_MAX = float(np.finfo(np.float64).max)
_NUMBERS = np.arange(MOST + 1.0)


def bucket_count(finite: int) -> int:
    """Give MindSpore's number of buckets for that many finite values."""
    if finite <= 0:
        return 0
    if finite <= 5:
        return 2
    return 3 if finite <= 10 else min(finite // 10 + 1, MOST)


def bucket_edges(low: float, high: float, bins: int) -> Floats:
    """Give strictly ascending, finite float64 edges from ``low`` to ``high``, of equal width as far as float64 can tell them apart."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    if low == high:  # half a unit vanishes beside it
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    low, high = max(low, -_MAX), min(high, _MAX)
    edges = _spread(low, high, bins) if high - low <= _MAX else 4.0 * _spread(low / 4, high / 4, bins)  # 1e308 - -1e308 overflows
    return edges if (edges[1:] > edges[:-1]).all() else np.unique(edges)


def _spread(low: float, high: float, bins: int) -> Floats:
    """``np.linspace``, digit by digit, in a quarter of its time: many histograms are of a few values."""
    width = (high - low) / bins
    if width == 0 or bins > MOST:  # where it goes other ways
        return np.linspace(low, high, bins + 1)
    edges: Floats = _NUMBERS[: bins + 1] * width
    edges += low
    edges[-1] = high
    return edges


def spread(lows: Floats, highs: Floats, bins: Ints) -> Floats:
    """Give the edges of several ranges, where float64 can tell them apart, as ``bucket_edges`` does: shape ``[ranges, MOST + 1]``."""
    edges: Floats = _NUMBERS * ((highs - lows) / bins)[:, None]
    edges += lows[:, None]
    edges[np.arange(bins.size), bins] = highs
    return edges
