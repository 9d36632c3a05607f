"""Histograms of many small arrays at once: a model has dozens of biases and norms beside its large weights.

A call of NumPy takes about 1 µs however few the values, and one on more than 500 lets go of the GIL: beside a training thread that runs
small operators, the two threads then take turns at each call. So the arrays are put one behind the other, and the calls that `binning`
makes for each are made once for all: extremes and sums by ``reduceat``, a scale for each value, one ``bincount`` of buckets that are
numbered throughout. The histograms are those of one array at a time, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from summarykit.kinds.binning import cut, in_doubt, scalable, scaling, settle
from summarykit.kinds.buckets import MOST, bucket_count, spread
from summarykit.kinds.moments import SMALL, sums_from
from summarykit.kinds.scratch import SCRATCH
from summarykit.shapes import Array, Histogram, Ints

WORTH = 4
"""Fewer arrays are sooner done one at a time."""

_ARRAYS = 2**16 // MOST  # and buckets, that a 16-bit number tells them apart
_GROUP = 1 << 17  # values worked on at a time: their scratch memory, 14 bytes a value, fits a server's last cache


class _Row:
    """Arrays of values, one behind the other, and room to work on them.

    Attributes:
        sizes: of each array.
        starts: where each begins.
        values: float32, of all.
        wide: float64, with any content, as many.
        low: 8-bit, with any content, as many, padded to whole cache lines.
        high: the same.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.sizes = np.array([array.size for array in arrays])
        ends = self.sizes.cumsum()
        self.starts = ends - self.sizes
        size = int(ends[-1])
        room = SCRATCH.rows(14, size)
        self.low, self.high = room[12:]
        self.wide = room[:8].reshape(-1).view(np.float64)[:size]
        self.values = room[8:12].reshape(-1).view(np.float32)[:size]
        self._copy(arrays)

    def _copy(self, arrays: Sequence[Array]) -> None:
        """By Python's own copy, which keeps the GIL."""
        room, end = self.values.data.cast("B"), 0
        for array in arrays:
            start, end = end, end + array.nbytes
            room[start:end] = array.reshape(-1).data.cast("B")


class _Buckets:
    """Those of each array of a row.

    Attributes:
        bins: how many.
        lows: float32, smallest values.
        highs: float32, largest values.
        scales: float32; with ``slacks``: what `binning` makes of them.
        slacks: float64.
        fit: where there are such.
    """

    def __init__(self, row: _Row) -> None:
        self.bins = np.array([bucket_count(size) for size in row.sizes.tolist()])
        self.lows, self.highs = np.minimum.reduceat(row.values, row.starts), np.maximum.reduceat(row.values, row.starts)
        low, high = self.ends = self.lows.astype(np.float64), self.highs.astype(np.float64)
        scales, self.slacks = scaling(self.bins, low, high)
        self.scales = scales.astype(np.float32)
        self.fit = scalable(self.bins, low, high, self.slacks)


def suits(array: Array) -> bool:
    """Tell whether an array is one of those that are worked on together."""
    return array.dtype == np.float32 and 0 < array.size <= SMALL and array.flags.c_contiguous


def histograms(arrays: Sequence[Array]) -> list[Histogram | None]:
    """Give the histogram of each array that `suits`; None where the values do not: not finite, all equal, a range beyond float32."""
    found: list[Histogram | None] = []
    group: list[Array] = []
    size = 0
    for array in arrays:
        if size + array.size > _GROUP or len(group) == _ARRAYS:
            found += _of_group(group)
            group, size = [], 0
        group.append(array)
        size += array.size
    return found + _of_group(group) if group else found


def _of_group(arrays: list[Array]) -> list[Histogram | None]:
    row = _Row(arrays)
    buckets = _Buckets(row)
    if buckets.fit.all():
        return [*_histograms(row, buckets)]
    del row    # its memory is for the others
    others = iter(histograms([array for array, fits in zip(arrays, buckets.fit, strict=True) if fits]))
    return [next(others) if fits else None for fits in buckets.fit]


def _histograms(row: _Row, buckets: _Buckets) -> list[Histogram]:
    edges = spread(*buckets.ends, buckets.bins)
    np.copyto(row.wide, row.values)
    sums, squares = sums_from(row.starts, row.wide)
    counts = _counts(row, buckets, edges)
    numbers = (each.tolist() for each in (buckets.bins, buckets.lows, buckets.highs, sums, squares))
    return [
        Histogram(edges[: bins + 1], counts[:bins], 0, 0, 0, low, high, total, squares)
        for edges, counts, bins, low, high, total, squares in zip(edges, counts, *numbers, strict=True)
    ]


def _counts(row: _Row, buckets: _Buckets, edges: Array) -> Ints:
    """Count all values; int64, shape ``[arrays, MOST]``."""
    size, places = row.values.size, MOST * row.sizes.size
    scaled, short, keys = row.wide.view(np.float32)[:size], row.values.view(np.uint16)[:size], row.wide.view(np.intp)
    np.subtract(row.values, buckets.lows.repeat(row.sizes), out=scaled)
    np.multiply(scaled, buckets.scales.repeat(row.sizes), out=scaled)
    cut(scaled, np.float32(buckets.slacks.max()), row.low, row.high)
    _settle(row, buckets, edges)
    np.add(row.low[:size], np.arange(0, places, MOST, dtype=np.uint16).repeat(row.sizes), out=short)    # to keys at once: slower
    np.copyto(keys, short)
    return np.bincount(keys, minlength=places).reshape(-1, MOST)


def _settle(row: _Row, buckets: _Buckets, edges: Array) -> None:
    last = (buckets.bins - 1).astype(np.uint8)
    padding = np.zeros(row.low.size - row.values.size, np.uint8)
    places = in_doubt(row.low, row.high, lambda: np.append(last.repeat(row.sizes), padding))
    owners = row.starts.searchsorted(places, "right") - 1
    settle(places, row.values, row.low, row.high, edges.reshape(-1), last[owners], owners * (MOST + 1))
