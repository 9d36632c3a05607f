"""Histograms in buckets of the user's choice: NumPy's, and never an exception for the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.errors import RefusedValueError
from summarykit.kinds.chosen_bins import RULES
from summarykit.kinds.histogram import HISTOGRAM

VALUES = np.random.default_rng(0).normal(size=5000)


def reduced(values, **options):
    return HISTOGRAM.reduce(HISTOGRAM.snapshot(values, **options))


@pytest.mark.parametrize("bins", [7, np.int64(7), [-1.0, 0.0, 2.0], np.linspace(-5, 5, 200), *RULES])
def test_buckets_are_those_of_numpy(bins):
    counts, edges = np.histogram(VALUES, bins)
    found = reduced(VALUES, bins=bins)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(found.edges, edges)
    assert (found.min, found.max) == (VALUES.min(), VALUES.max())
    assert found.sum == pytest.approx(VALUES.sum())


@pytest.mark.parametrize("most", [1, 2, 7, 30, 1000])
@pytest.mark.parametrize("bins", [None, 64])
def test_neighbours_are_put_together(bins, most):
    found = reduced(VALUES, **({} if bins is None else {"bins": bins}), max_bins=most)
    assert 1 <= len(found.counts) <= most
    assert found.counts.sum() == len(VALUES)
    np.testing.assert_array_equal(np.histogram(VALUES, found.edges)[0], found.counts)


@given(st.lists(st.floats(), max_size=30), st.sampled_from([1, 5, [-1, 0, 1], "auto", "fd", "sqrt"]))
def test_va5_va6_values_never_raise(values, bins):
    """NaN, infinities, nothing at all, and ranges that overflow."""
    array = np.array(values, np.float64)
    try:
        found = reduced(array, bins=bins)
    except RefusedValueError:    # a rule that wants more buckets than there can be
        return
    odd = int(np.isnan(array).sum()), int((array == np.inf).sum()), int((array == -np.inf).sum())
    assert (found.nan, found.pos_inf, found.neg_inf) == odd
    assert found.finite <= len(array) - sum(odd)


@pytest.mark.parametrize("far", [1e7, 1e15, 1e300])
def test_one_value_far_away_does_not_take_all_memory(far):
    values = np.append(VALUES, far)
    with pytest.raises(RefusedValueError, match="more than 100,000 buckets"):
        reduced(values, bins="fd")
    found = reduced(values, bins="auto")
    assert len(found.counts) < 1000
    assert found.finite == len(values)


@pytest.mark.parametrize("options", [
    {"bins": "no rule"}, {"bins": 0}, {"bins": -1}, {"bins": 1.5}, {"bins": [1]}, {"bins": [2, 1]}, {"bins": [0, np.nan]},
    {"bins": [[1, 2]]}, {"bins": {}}, {"bins": 10**9}, {"max_bins": 0}, {"max_bins": "many"},
])  # fmt: skip
def test_no_buckets_are_refused(options):
    with pytest.raises(RefusedValueError, match=r"bins|value"):
        HISTOGRAM.snapshot(VALUES, **options)
