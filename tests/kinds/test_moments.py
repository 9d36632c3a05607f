"""Extremes and sums of arrays, whatever their size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.kinds.moments import SMALL, moments, sums_from, weighted


@pytest.mark.parametrize("size", [1, 63, SMALL, SMALL + 1, 2**19, 2**19 + 1, 2**20 + 5])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_they_are_those_of_float64(size, dtype):
    values = (np.random.default_rng(size).standard_normal(size) * 1000).astype(dtype)
    kept, wide = values.copy(), values.astype(np.float64)
    found = moments(values)
    assert (found.low, found.high) == (wide.min(), wide.max())
    assert abs(found.sum - math.fsum(wide)) <= 1e-12 * math.fsum(np.abs(wide))
    assert found.sum_squares == pytest.approx(math.fsum(wide * wide), rel=1e-12)
    assert (values == kept).all()


def test_integers_are_summed_exactly():
    assert moments(np.arange(300_000, dtype=np.float32)).sum == 299_999 * 150_000


@pytest.mark.parametrize("place", [0, 2**19 - 1, 2**19])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_one_value_that_is_not_finite_is_seen_in_any_piece(place, odd):
    values = np.ones(2**19 + 1, np.float32)
    values[place] = odd
    with np.errstate(all="ignore"):
        assert not moments(values).finite


def test_of_nothing_there_are_none():
    assert not moments(np.empty(0, np.float32)).finite


def test_a_sum_whose_way_overflows_is_right():
    with np.errstate(all="ignore"):
        assert moments(np.array([1e308, 1e308, -1e308])).sum == pytest.approx(1e308)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 100)), min_size=1, max_size=20))
def test_weighted_ones_are_those_of_all(rows):
    values, times = np.array([value for value, _ in rows]), np.array([number for _, number in rows])
    found, wanted = weighted(values, times), moments(values.repeat(times))
    assert (found.low, found.high) == (wanted.low, wanted.high)
    assert math.isclose(found.sum, wanted.sum, abs_tol=1e-12 * float(np.abs(values * times).sum()))
    assert math.isclose(found.sum_squares, wanted.sum_squares, rel_tol=1e-12, abs_tol=1e-300)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), min_size=1, max_size=10))
def test_sums_of_each_do_not_depend_on_the_others(rows):
    starts = np.cumsum([0, *map(len, rows[:-1])])
    sums, squares = sums_from(starts, np.concatenate([np.array(row) for row in rows]))
    for row, total, square in zip(rows, sums, squares, strict=True):
        found = moments(np.array(row))
        assert (found.sum, found.sum_squares) == (total, square)
