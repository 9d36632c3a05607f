"""Extremes and sums of an array, in float64: each piece of it is read from memory once for all of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from summarykit.kinds.scratch import SCRATCH
from summarykit.shapes import Array, Floats, Ints

SMALL = 40_000
"""Arrays of up to so many values may be `joined`: of larger ones that takes more time than one at a time. All are summed in its order."""

_PIECE = 1 << 19  # values widened to float64 at a time: larger pieces spill out of the cache, smaller ones are more calls
_ROW = 4096  # values of one dot product: BLAS starts threads of its own beyond 10,000
_BEGIN = np.zeros(1, np.int64)


class Moments(NamedTuple):
    """What is told of values beside their counts.

    Attributes:
        low: smallest value; NaN where one is in the data or nothing is.
        high: largest value; likewise.
        sum: of the values, accumulated in float64.
        sum_squares: of the values, accumulated in float64; may overflow to infinity.
    """

    low: float
    high: float
    sum: float
    sum_squares: float

    @property
    def finite(self) -> bool:
        """Whether all values are, and there is one."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def moments(values: Array) -> Moments:
    """Measure values of one axis, C-contiguous, native byte order: float32, float64 or integers."""
    if values.size <= _PIECE:
        found = _of_piece(values) if values.size else Moments(math.nan, math.nan, 0.0, 0.0)
    else:
        pieces = [_of_piece(values[start : start + _PIECE]) for start in range(0, values.size, _PIECE)]
        lows, highs, sums, squares = zip(*pieces, strict=True)
        found = Moments(float(np.min(lows)), float(np.max(highs)), sum(sums), sum(squares))
    return found if math.isfinite(found.sum) or not found.finite else found._replace(sum=_far_sum(values))


def weighted(values: Floats, times: Ints) -> Moments:
    """Measure few distinct values, each of which came so many ``times``."""
    return Moments(float(values.min()), float(values.max()), float((values * times).sum()), float((values * values * times).sum()))


def sums_from(starts: Ints, values: Floats) -> tuple[Floats, Floats]:
    """Sum the values, which are overwritten, and their squares from each start to the next."""
    sums = np.add.reduceat(values, starts)
    np.multiply(values, values, out=values)
    return sums, np.add.reduceat(values, starts)


def _of_piece(piece: Array) -> Moments:
    """The sums first: with so much to do for each value, memory is read ahead of them."""
    total, squares = _sums_of_small(piece) if piece.size <= SMALL else _sums(piece)
    return Moments(float(np.minimum.reduce(piece)), float(np.maximum.reduce(piece)), total, squares)


def _sums_of_small(piece: Array) -> tuple[float, float]:
    sums, squares = sums_from(_BEGIN, piece.astype(np.float64))
    return sums.item(), squares.item()


def _sums(piece: Array) -> tuple[float, float]:
    wide = piece
    if piece.dtype != np.float64:
        wide = SCRATCH.take(8 * piece.size).view(np.float64)
        np.copyto(wide, piece, casting="unsafe")
    return float(np.einsum("i->", wide)), _sum_squares(wide)    # einsum is faster than sum()


def _sum_squares(values: Floats) -> float:
    whole = values.size // _ROW * _ROW
    rows, rest = values[:whole].reshape(-1, 1, _ROW), values[whole:]
    return float(np.add.reduce(np.matmul(rows, rows.transpose(0, 2, 1)), axis=None) + np.dot(rest, rest))


def _far_sum(values: Array) -> float:
    """Sum what overflowed on the way (1e308 + 1e308 - 1e308): in a smaller unit."""
    return float((values * 2.0**-100).sum()) * 2.0**100
