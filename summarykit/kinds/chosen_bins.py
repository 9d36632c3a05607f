"""Histograms in buckets of the user's choice."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Frozen, Later, typed
from summarykit.shapes import Array, Floats, Histogram

RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")
MOST = 100_000
"""Buckets of one histogram: a rule may ask for more than the memory holds."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Frozen values with their buckets: how many, their edges or a rule's name (None: the usual ones); and how many there may be."""

    values: Frozen
    bins: int | Floats | str | None
    most: int

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.values.nbytes

    @property
    def settled(self) -> bool:
        """Whether the values are in host memory."""
        return not isinstance(self.values, Later) or self.values.settled


def checked_bins(bins: Any) -> int | Floats | str:
    """Give bins as ``numpy.histogram`` takes them.

    Raises:
        RefusedValueError: these are none.
    """
    if isinstance(bins, str):
        if bins not in RULES:
            raise RefusedValueError(f"histogram: bins={bins!r} is not known; allowed: {', '.join(RULES)}, a number or edges")
        return bins
    found = np.asarray(typed(bins).data)
    if found.ndim == 0 and found.dtype.kind in "iu" and 0 < found <= MOST:
        return int(found)
    edges = found.astype(np.float64)
    if found.ndim != 1 or not 1 < len(found) <= MOST or not np.isfinite(edges).all() or (np.diff(edges) < 0).any():
        raise RefusedValueError(f"histogram: bins must be a number from 1 to {MOST}, ascending edges, or the name of a rule; got {bins!r}")
    return edges


def checked_most(most: Any) -> int:
    """Give the largest number of buckets.

    Raises:
        RefusedValueError: it is none.
    """
    try:
        number = MOST if most is None else operator.index(most)
    except TypeError:
        number = 0
    if number < 1:
        raise RefusedValueError(f"histogram: max_bins={most!r} must be an integer above 0")
    return number


def in_chosen(array: Array, bins: int | Floats | str) -> Histogram:
    """Count the finite values in those buckets; of chosen edges, what lies outside belongs to none but stays in min, max and sums.

    Raises:
        RefusedValueError: the rule fails on these values.
    """
    flat = np.asarray(array, np.float64).reshape(-1)
    finite = flat[np.isfinite(flat)]
    odd = {"nan": int(np.isnan(flat).sum()), "pos_inf": int((flat == np.inf).sum()), "neg_inf": int((flat == -np.inf).sum())}
    if not finite.size:
        return Histogram(np.empty(0), np.empty(0, np.int64), **odd)
    try:
        with np.errstate(all="ignore"):
            edges = np.histogram_bin_edges(finite, _bounded(finite, bins))
            counts, _ = np.histogram(finite, edges)    # by search: where buckets are narrower than an ulp, NumPy 1's arithmetic fails
    except (ValueError, OverflowError, MemoryError) as error:
        raise RefusedValueError(f"histogram: bins={bins!r} fails on these values: {error}") from error
    low, high = float(finite.min()), float(finite.max())
    with np.errstate(all="ignore"):
        total, squares = float(finite.sum()), float(finite @ finite)
    edges, counts = edges.astype(np.float64), counts.astype(np.int64)
    return Histogram(edges, counts, **odd, min=low, max=high, sum=total, sum_squares=squares)


def _bounded(finite: Floats, bins: int | Floats | str) -> int | Floats | str:
    """The rules that go by the middle half of the values: one that is far away would have them ask for all the memory there is.

    Raises:
        ValueError: there would be too many buckets.
    """
    if not isinstance(bins, str) or bins not in ("fd", "auto"):
        return bins
    low, lower, upper, high = np.percentile(finite, [0, 25, 75, 100])
    width = 2 * (upper - lower) / np.cbrt(finite.size)
    if not 0 < width < (high - low) / MOST:
        return bins
    if bins == "fd":
        raise ValueError(f"it asks for more than {MOST:,} buckets")
    return math.ceil(2 * math.sqrt(finite.size))    # as NumPy does since its issue 28400


def merged(shape: Histogram, most: int) -> Histogram:
    """Put neighbours together, as many in each group but the last, until there are at most so many buckets."""
    if len(shape.counts) <= most:
        return shape
    starts = np.arange(0, len(shape.counts), -(-len(shape.counts) // most))
    return shape.__replace__(edges=np.append(shape.edges[starts], shape.edges[-1]), counts=np.add.reduceat(shape.counts, starts))
