"""Histograms of many arrays at once: they are those of one array at a time, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.kinds import joined
from summarykit.kinds.arrays import Later, Typed
from summarykit.kinds.histogram import HISTOGRAM, histogram

FIELDS = ("nan", "pos_inf", "neg_inf", "min", "max", "sum", "sum_squares")
DTYPES = st.one_of(st.just(np.dtype("f4")), hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf"))
ODD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3.4028235e38, -3.4028235e38)


def check(arrays):
    """Each is what it is by itself; enough others are with it that they are worked on together."""
    arrays = [*arrays, *(np.arange(9, dtype=np.float32) for _ in range(joined.WORTH))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = HISTOGRAM.reduce_many([HISTOGRAM.snapshot(array) for array in arrays])
    assert len(found) == len(arrays)
    for array, shape in zip(arrays, found, strict=True):
        same(shape, histogram(array))


def same(shape, wanted):
    assert shape.edges.tolist() == wanted.edges.tolist()
    assert shape.counts.tolist() == wanted.counts.tolist()
    assert [getattr(shape, name) for name in FIELDS] == [getattr(wanted, name) for name in FIELDS]
    assert (shape.edges.dtype, shape.counts.dtype) == (np.float64, np.int64)


@given(st.lists(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=12)), max_size=6))
def test_no_arrays_fail(arrays):
    check(arrays)


@given(st.lists(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40), max_size=8))
def test_any_finite_values(rows):
    check(np.array(row, np.float32) for row in rows)


@given(
    seed=st.integers(0, 2**32 - 1),
    ranges=st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-12, 6), st.integers(1, 3000)), min_size=1, max_size=8),
)
def test_spread_values(seed, ranges):
    rng = np.random.default_rng(seed)
    check((center + 10**spread * rng.standard_normal(size)).astype(np.float32) for center, spread, size in ranges)


@given(
    rows=st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(1, 400), st.sampled_from([1.0, 0.1, 1 / 3, 2.0**-20, 1e30]), st.integers(2, 3000)),
        min_size=1,
        max_size=6,
    )
)
@example(rows=[(0, 9, 1.0, 2000)])
@example(rows=[(0, 1, 1.0, 3000)] * 6)
def test_values_that_lie_on_edges(rows):
    check(((low + np.arange(size) % (steps + 1)) * unit).astype(np.float32) for low, steps, unit, size in rows)


@given(st.integers(0, 2**32 - 1), st.lists(st.tuples(st.sampled_from(ODD), st.integers(1, 1200)), min_size=1, max_size=6))
def test_odd_values_are_left_to_one_at_a_time(seed, odd):
    rng = np.random.default_rng(seed)
    rows = []
    for value, size in odd:
        row = rng.standard_normal(size).astype(np.float32)
        row[rng.integers(size)] = value
        rows += [row, np.full(size, value, np.float32)]
    check(rows)


@pytest.mark.parametrize("size", [1, 5, 10, 11, 500, 880, 999, 1000, 9408, joined.SMALL, joined.SMALL + 1])
def test_arrays_of_any_size(size):
    rng = np.random.default_rng(size)
    check(rng.standard_normal(each).astype(np.float32) for each in (size, 64, size, 1, size))


def test_more_than_is_worked_on_at_a_time():
    rng = np.random.default_rng(0)
    check(rng.standard_normal(40_000 + each).astype(np.float32) for each in range(10))


def test_any_layout_in_memory():
    values = np.random.default_rng(0).standard_normal((40, 50)).astype(np.float32)
    check([values, values.T, values[::2, ::3], values.astype(">f4"), values[::-1], np.float32(3)])


def test_chosen_buckets_among_others():
    values = np.random.default_rng(0).standard_normal(2000).astype(np.float32)
    snapshots = [HISTOGRAM.snapshot(values, bins=bins) for bins in (None, 7, None, "sqrt", None, None)]
    for shape, snapshot in zip(HISTOGRAM.reduce_many(snapshots), snapshots, strict=True):
        same(shape, HISTOGRAM.reduce(snapshot))


class Arrived(Later):
    """Was on a device; bringing it from there is counted."""

    settled = True
    fetched = 0

    def __init__(self, data):
        self.data = data

    def get(self):
        self.fetched += 1
        return Typed(self.data, self.data.dtype.name, own=True)


@pytest.mark.parametrize("many", [2, 8])
def test_what_comes_from_a_device_is_brought_once(many):
    values = np.random.default_rng(0).standard_normal(joined.SMALL + 1)
    arrays = [*(values[:900].astype(np.float32) for _ in range(many)), values.astype(np.float32), values[:500], np.ones(9, np.float32)]
    arrived = [*map(Arrived, arrays)]
    for array, shape in zip(arrays, HISTOGRAM.reduce_many(arrived), strict=True):
        same(shape, histogram(array))
    assert [each.fetched for each in arrived] == [1] * len(arrays)


def test_no_array_is_an_answer():
    assert HISTOGRAM.reduce_many([]) == []


def test_what_fails_by_itself_fails_among_others():
    values = np.array([1.0, 2.0, np.float64(1e308), -1e308])
    snapshots = [*(HISTOGRAM.snapshot(np.arange(9, dtype=np.float32)) for _ in range(joined.WORTH)), HISTOGRAM.snapshot(values, bins="fd")]
    with pytest.raises(RefusedValueError):
        HISTOGRAM.reduce(snapshots[-1])
    with pytest.raises(RefusedValueError):
        HISTOGRAM.reduce_many(snapshots)
