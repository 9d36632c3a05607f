"""Counts values into at most 128 buckets of equal width, with NumPy alone.

How it is fast. A value's bucket is ``(value - min) * scale`` cut to an 8-bit integer: passes that NumPy runs in SIMD, in float32. Counting
is the dear part (one dependent memory update an item), so two neighbouring indices are joined to one key, ``np.bincount`` counts the keys,
and the sums over rows and columns of that table give the buckets: half the updates. The rows of the table are ``bins`` long, not 256: rows
at a power of two would share a few cache sets, which costs 1.8 times the time. (Kernels for GPUs keep several tables to the same end: Shams
and Kennedy, "Efficient histogram algorithms for NVIDIA CUDA compatible devices", 2007.) It takes 1.1 ns a float32 value, half of it in
``np.bincount``; ``np.histogram`` takes 5 to 14.

How it is exact. The rounding errors of those passes are bounded, so each value gets two indices, one surely not above and one surely not
below its bucket. They differ for about one value in 10,000, and for those the edge between decides. The counts are those of
``np.histogram(values.astype(float64), edges)``, without exception.

Where float32 is too narrow for this (adjacent floats in float64, a range beyond 1e38 or below 1e-35), every value is searched
among the edges, at a thirtieth of the speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from summarykit.kinds.scratch import SCRATCH
from summarykit.shapes import Array, Floats, Ints

# In a thread each NumPy call waits for the GIL again (up to 5 ms beside a busy Python loop), so there must be few of them: a block of this
# many values takes about 30 calls of 20 to 500 µs. Its scratch memory, 8 bytes a value, fits a server's last cache; smaller is no faster.
BLOCK = 1 << 20

_FEW = 1000  # so many values are searched among the edges sooner than scaled: 20 calls of NumPy are saved
_FEW_PAIRS = 1 << 14  # values below which the table of pairs costs more than it saves
_MANY = 1000  # one value in so many whose bucket is in doubt
_LEAST, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
_ULP32, _ULP64 = 2.0**-24, 2.0**-53


class _Plan(NamedTuple):
    """How values become indices: ``floor((value - start) * scale)`` is not above the bucket; with ``slack`` added, not below it."""

    start: float
    scale: np.float32
    slack: np.float32


def bin_values(values: Array, edges: Floats) -> Ints:
    """Count finite values between edges of equal width; the last bucket is closed on the right.

    Args:
        values: one axis, C-contiguous, native byte order; float32, float64 or integers (beyond 2**53 rounded to float64); all finite
            and within the edges.
        edges: float64, strictly ascending, 2 to 129 of them.
    """
    plan = None if values.size < _FEW else _plan(edges)
    if values.size <= BLOCK:
        return _counts(values, edges, plan)
    counts = np.zeros(edges.size - 1, np.int64)
    for start in range(0, values.size, BLOCK):
        counts += _counts(values[start : start + BLOCK], edges, plan)
    return counts


def bin_weighted(values: Floats, times: Ints, edges: Floats) -> Ints:
    """Count few distinct finite values, each of which came so many ``times``."""
    return np.bincount(_search(values, edges), weights=times, minlength=edges.size - 1).astype(np.int64)


def _counts(block: Array, edges: Floats, plan: _Plan | None) -> Ints:
    return _searched(block, edges) if plan is None else _scaled(block, edges, plan)


def _plan(edges: Floats) -> _Plan | None:
    bins, low, high = edges.size - 1, float(edges[0]), float(edges[-1])
    scale, slack = scaling(bins, low, high)
    return _Plan(low, np.float32(scale), np.float32(slack)) if scalable(bins, low, high, slack) else None


def scaling(bins: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Give the scale and the slack of a plan, for one range of values or for arrays of them.

    The errors are bounded in units of a bucket: of the arithmetic (relative to the index) and of the edges themselves (absolute).
    """
    relative = 8 * _ULP32  # difference, its narrowing, scale, product, slack: five roundings
    absolute = 8 * _ULP64 * bins * (abs(low) + abs(high)) / (high - low)
    shrink = 2 * (relative + absolute)
    return bins * (1 - shrink) / (high - low), bins * (shrink + relative) + 2 * absolute


def scalable(bins: Any, low: Any, high: Any, slack: Any) -> Any:
    """Tell whether float32 is wide enough for that, for one range or for each; where it is, the edges are distinct."""
    return (4 * bins * _LEAST < high - low) & (high - low < _LARGEST) & (slack < 1 / 64)


def _scaled(block: Array, edges: Floats, plan: _Plan) -> Ints:
    """Count a block by scaled indices."""
    size, bins = block.size, edges.size - 1
    rows = SCRATCH.rows(6, size)
    room, low, high = rows[:4].reshape(-1), rows[4], rows[5]
    scaled = room.view(np.float32)[:size]
    _subtract(block, plan.start, scaled)
    np.multiply(scaled, plan.scale, out=scaled)
    cut(scaled, plan.slack, low, high)
    places = in_doubt(low, high, lambda: np.full_like(high, bins - 1))
    settle(places, block, low, high, edges, bins - 1)
    if size < _FEW_PAIRS:
        return np.bincount(low[:size], minlength=bins)
    counts = _count_pairs(low, bins, folded=high, keys=room.view(np.intp)[: low.size // 2])
    counts[0] -= low.size - size
    return counts


def _subtract(block: Array, start: float, out: Array) -> None:
    """In float32 where that is exact but for one rounding, else in float64."""
    if block.dtype == np.float32 and float(np.float32(start)) == start:
        np.subtract(block, np.float32(start), out=out)
    else:
        np.subtract(block, np.float64(start), out=out, dtype=np.float64, casting="same_kind")


def cut(scaled: Array, slack: np.float32, low: Array, high: Array) -> None:
    """Give both 8-bit indices of scaled values, which are overwritten; what ``low`` and ``high`` have beyond them becomes 0."""
    size = scaled.size
    low[size:] = high[size:] = 0
    np.copyto(low[:size], scaled, casting="unsafe")
    np.add(scaled, slack, out=scaled)
    np.copyto(high[:size], scaled, casting="unsafe")


def in_doubt(low: Array, high: Array, last: Callable[[], Array]) -> Ints:
    """Where the two indices of a value differ. ``last`` gives the last bucket of each value: ``high`` may be beyond it."""
    eights = _differing(low, high)
    if eights.size > low.size // _MANY:  # such as values cut to a range, half of which may be its upper end
        np.minimum(high, last(), out=high)  # against an array: with a number NumPy takes 16 times as long
        eights = _differing(low, high)
    places = (eights[:, None] * 8 + np.arange(8)).ravel()
    return places[low[places] != high[places]]


def settle(places: Ints, block: Array, low: Array, high: Array, edges: Floats, last: Any, first: Any = 0) -> None:
    """Let the edge between the two indices of a value decide; a value's edges begin at its ``first``."""
    upper = np.minimum(high[places], last)
    low[places] = np.where(block[places] >= edges[first + upper], upper, low[places])


def _differing(low: Array, high: Array) -> Ints:
    """Which eights of indices differ."""
    return np.flatnonzero(low.view(np.uint64) != high.view(np.uint64))


def _count_pairs(indices: Array, bins: int, folded: Array, keys: Array) -> Ints:
    """Count 8-bit indices two at a time; ``folded`` (as ``indices``) and ``keys`` (half as many) are scratch memory."""
    pairs, rows = indices.view(np.uint16), folded.view(np.uint16)
    np.right_shift(pairs, 8, out=rows)
    np.multiply(rows, 256 - bins, out=rows)
    np.subtract(pairs, rows, out=rows)
    np.copyto(keys, rows)
    table = np.bincount(keys, minlength=bins * bins).reshape(bins, bins)
    counts: Ints = table.sum(axis=0) + table.sum(axis=1)
    return counts


def _searched(block: Array, edges: Floats) -> Ints:
    return np.bincount(_search(block, edges), minlength=edges.size - 1)


def _search(values: Array, edges: Floats) -> Ints:
    """The bucket of each, of which the last is closed on the right: the outer edges are not looked at."""
    return edges[1:-1].searchsorted(values, "right")
