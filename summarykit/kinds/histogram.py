"""Histogram: how the values of an array are spread, whatever its dtype, size and range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from summarykit.kinds import joined, tally
from summarykit.kinds.arrays import Frozen, Typed, freeze
from summarykit.kinds.binning import bin_values, bin_weighted
from summarykit.kinds.buckets import bucket_count, bucket_edges
from summarykit.kinds.chosen_bins import Chosen, checked_bins, checked_most, in_chosen, merged
from summarykit.kinds.kind import no_options
from summarykit.kinds.moments import SMALL, Moments, moments, weighted
from summarykit.shapes import Array, Floats, Histogram, Ints


class _Odd(NamedTuple):
    """How many values were not finite."""

    nan: int
    pos_inf: int
    neg_inf: int


_NONE = _Odd(0, 0, 0)


class HistogramKind:
    """Counts in buckets of equal width over the finite values; NaN, +Inf and -Inf are counted apart.

    ===================  =============================
    finite values        buckets (MindSpore's table)
    ===================  =============================
    0                    none
    1 to 5               2
    6 to 10              3
    11 to 880            values // 10 + 1 (2 to 89)
    more                 90
    ===================  =============================

    The edges are ``linspace(min, max, buckets + 1)`` in float64; where all values are equal, value - 0.5 to value + 0.5. Where
    float64 cannot tell that many edges apart (adjacent floats) there are fewer. Counts, min, max and sums are those of the values
    as float64: exact for every dtype but integers beyond 2**53 and longdouble, which are rounded to it first.
    """

    name = "histogram"
    small = 4 * SMALL

    def snapshot(self, value: Any, *, bins: Any = None, max_bins: int | None = None, **options: Any) -> Frozen | Chosen:
        """Copy the array once, or keep it on its device.

        Args:
            value: array or tensor.
            bins: other buckets, as ``numpy.histogram`` takes them: how many, their edges, or the name of a rule. (MindInsight shows no
                histogram of more than 90.)
            max_bins: of those, neighbours are put together until there are no more.
            **options: none other.

        Raises:
            RefusedValueError: not an array of real numbers, or no such ``bins``.
        """
        no_options(self.name, options)
        if bins is None and max_bins is None:
            return freeze(value)
        return Chosen(freeze(value), None if bins is None else checked_bins(bins), checked_most(max_bins))

    def reduce(self, snapshot: Frozen | Chosen) -> Histogram:
        """Count the values.

        Raises:
            RefusedValueError: a device value that could not be fetched, or a rule that these values do not fit.
        """
        if not isinstance(snapshot, Chosen):
            return histogram(snapshot.get().data)
        data = snapshot.values.get().data
        return merged(histogram(data) if snapshot.bins is None else in_chosen(data, snapshot.bins), snapshot.most)

    def reduce_many(self, snapshots: Sequence[Frozen | Chosen]) -> list[Histogram]:
        """Count the values of each, and those of small arrays together: what `reduce` gives, in fewer calls of NumPy.

        Raises:
            RefusedValueError: `reduce` fails on one of them.
        """
        at_hand = {place: each.get() for place, each in enumerate(snapshots) if not isinstance(each, Chosen) and _settled(each)}
        small = {place: each.data for place, each in at_hand.items() if joined.suits(each.data)}
        together: dict[int, Histogram | None] = {}
        if len(small) >= joined.WORTH:
            with np.errstate(all="ignore"):
                together = dict(zip(small, joined.histograms([*small.values()]), strict=True))
        return [together.get(place) or self.reduce(at_hand.get(place, each)) for place, each in enumerate(snapshots)]


def _settled(value: Frozen) -> bool:
    return isinstance(value, Typed) or value.settled


def histogram(array: Array) -> Histogram:
    """Give the histogram of an array of any shape and any real dtype of NumPy."""
    with np.errstate(all="ignore"):
        flat = _computable(array)
        if tally.suits(flat):
            values, times = tally.distinct(flat)
            return _of_distinct(values, times)
        return _of_many(flat)


def _computable(array: Array) -> Array:
    """One axis, native byte order, and a dtype that NumPy computes with at full speed."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.itemsize > 8:
        return flat.astype(np.float64)
    if flat.dtype == np.bool_:
        return flat.view(np.uint8)
    return flat.astype(flat.dtype.newbyteorder("="), copy=False)


def _of_many(flat: Array) -> Histogram:
    if flat.dtype == np.float16:
        flat = flat.astype(np.float32)
    odd, found = _NONE, moments(flat)
    if not found.finite:
        odd, flat = _odd(flat, np.ones(1, np.int64)), flat[np.isfinite(flat)]
        found = moments(flat)
    if not flat.size:
        return _empty(odd)
    if found.low == found.high:
        return _of_distinct(np.array([found.low]), np.array([flat.size]), odd)
    edges = bucket_edges(found.low, found.high, bucket_count(flat.size))
    return _assemble(bin_values(flat, edges), edges, found, odd)


def _of_distinct(values: Floats, times: Ints, odd: _Odd | None = None) -> Histogram:
    """Count values that each came so many ``times``."""
    odd = odd or _odd(values, times)
    finite = np.isfinite(values)
    values, times = values[finite], times[finite]
    if not values.size:
        return _empty(odd)
    found = weighted(values, times)
    edges = bucket_edges(found.low, found.high, bucket_count(int(times.sum())))
    return _assemble(bin_weighted(values, times, edges), edges, found, odd)


def _odd(values: Array, times: Ints) -> _Odd:
    weights = np.broadcast_to(times, values.shape)
    nan, pos_inf, neg_inf = (int(weights[mask].sum()) for mask in (np.isnan(values), values == np.inf, values == -np.inf))
    return _Odd(nan, pos_inf, neg_inf)


def _assemble(counts: Ints, edges: Floats, found: Moments, odd: _Odd) -> Histogram:
    return Histogram(edges, counts, *odd, *found)    # in order: by name it takes 2 µs more


def _empty(odd: _Odd) -> Histogram:
    return Histogram(np.empty(0), np.empty(0, np.int64), *odd)


HISTOGRAM = HistogramKind()
