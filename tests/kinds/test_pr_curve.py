"""PR curves against the definition, and against TensorBoard's own way of computing them."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.kinds import pr_curve
from summarykit.kinds.pr_curve import PR_CURVE, PR_CURVE_RAW
from summarykit.notices import Notices


@pytest.fixture(autouse=True)
def notices(monkeypatch, caplog):
    monkeypatch.setattr(pr_curve, "NOTICES", Notices())
    with caplog.at_level(logging.WARNING, logger="summarykit"):
        yield caplog


def recorded(value, **options):
    shape = PR_CURVE.reduce(PR_CURVE.snapshot(value, **options))
    assert (shape.plugin, shape.data.dtype) == ("pr_curves", np.dtype("<f4"))
    return shape.data


def by_histograms(labels, predictions, thresholds, weights):
    """As TensorBoard's and torch's summaries do it, written from their formula."""
    buckets = np.int32(np.floor(predictions * (thresholds - 1)))
    options = {"bins": thresholds, "range": (0, thresholds - 1)}
    tp = np.cumsum(np.histogram(buckets, weights=labels * weights, **options)[0][::-1])[::-1]
    fp = np.cumsum(np.histogram(buckets, weights=(1 - labels) * weights, **options)[0][::-1])[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack([tp, fp, tn, fn, tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)])


SIZES = st.integers(1, 60)
PROBABILITIES = st.floats(0, 1)


@given(st.data(), SIZES, st.integers(2, 300))
def test_the_numbers_are_tensorboards(data, size, thresholds):
    labels = data.draw(hnp.arrays(np.bool_, size))
    predictions = data.draw(hnp.arrays(np.float64, size, elements=PROBABILITIES))
    weights = data.draw(st.sampled_from([None, 1, 2.5]) | hnp.arrays(np.float64, size, elements=st.floats(0, 10)))
    found = recorded((labels, predictions), num_thresholds=thresholds, weights=weights)
    weights = 1 if weights is None else weights
    np.testing.assert_allclose(found, by_histograms(labels.astype(float), predictions, thresholds, weights), rtol=1e-6, atol=1e-6)


@given(st.data(), SIZES)
def test_each_threshold_counts_what_is_above_it(data, size):
    labels = data.draw(hnp.arrays(np.bool_, size))
    predictions = data.draw(hnp.arrays(np.float64, size, elements=st.integers(0, 10).map(lambda tenth: tenth / 10)))
    found = recorded((labels, predictions), num_thresholds=6)
    for place in range(6):
        above = np.floor(predictions * 5) >= place
        expected = [(above & labels).sum(), (above & ~labels).sum(), (~above & ~labels).sum(), (~above & labels).sum()]
        assert found[:4, place].tolist() == expected


def test_what_lies_outside_of_0_to_1_is_left_out_with_one_warning(notices):
    labels, predictions = [1, 0, 1, 1, 0], [0.5, 0.5, np.nan, 1.5, -0.1]
    for _ in range(2):
        assert recorded((labels, predictions))[:4, 0].tolist() == [1, 1, 0, 0]
    assert len(notices.records) == 1


def test_shapes_may_differ_where_sizes_do_not():
    assert recorded((np.ones((2, 3)), np.full(6, 0.5)))[0, 0] == 6


def test_num_thresholds_is_told_to_the_page():
    shape = PR_CURVE.reduce(PR_CURVE.snapshot(([1], [0.5]), num_thresholds=200))
    assert shape.metadata == b"\x10\xc8\x01"
    assert shape.data.shape == (6, 200)


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (([1, 0], [0.5]), {}),
        (([], []), {}),
        ([1, 0, 1], {}),
        (None, {}),
        (([1], [0.5]), {"num_thresholds": 1}),
        (([1], [0.5]), {"num_thresholds": 12.5}),
        (([1], [0.5]), {"weights": [1, 2, 3]}),
        (([2], [0.5]), {}),
        (([np.nan], [0.5]), {}),
    ],
)
def test_what_does_not_fit_is_refused(value, options):
    with pytest.raises(RefusedValueError):
        recorded(value, **options)


@given(hnp.arrays(np.float32, st.tuples(st.just(6), st.integers(1, 20)), elements=st.floats(width=32)))
def test_raw_numbers_stay(rows):
    for value in (rows, list(rows)):
        shape = PR_CURVE_RAW.reduce(PR_CURVE_RAW.snapshot(value))
        np.testing.assert_array_equal(shape.data, rows)


@pytest.mark.parametrize("shape", [(5, 3), (6,), (6, 0), (6, 3, 1)])
def test_raw_numbers_of_another_shape_are_refused(shape):
    with pytest.raises(RefusedValueError, match="6, thresholds"):
        PR_CURVE_RAW.snapshot(np.zeros(shape))
