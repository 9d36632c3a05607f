"""Histograms of any values: the counts are NumPy's, whatever came."""

from __future__ import annotations

import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.kinds.histogram import HISTOGRAM, bucket_count, bucket_edges, histogram

MAX = float(np.finfo(np.float64).max)
REAL = hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf")


def recorded(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return HISTOGRAM.reduce(HISTOGRAM.snapshot(values))


def check(values):
    """Everything that must hold of a histogram, against plain NumPy in float64."""
    shape = recorded(values)
    with np.errstate(all="ignore"):
        floats = np.asarray(values).astype(np.float64).ravel()
    finite = floats[np.isfinite(floats)]
    assert shape.count == floats.size
    assert (shape.nan, shape.pos_inf, shape.neg_inf) == (np.isnan(floats).sum(), (floats == np.inf).sum(), (floats == -np.inf).sum())
    if not finite.size:
        assert (shape.edges.size, shape.counts.size, shape.min, shape.max, shape.sum, shape.sum_squares) == (0, 0, 0, 0, 0, 0)
        return shape
    assert (shape.min, shape.max) == (finite.min(), finite.max())
    assert np.isfinite(shape.edges).all()
    assert (shape.edges[1:] > shape.edges[:-1]).all()
    assert 1 <= shape.counts.size <= bucket_count(finite.size)
    assert shape.counts.tolist() == np.histogram(finite, shape.edges)[0].tolist()
    check_sums(shape, finite)
    return shape


def check_sums(shape, finite):
    with np.errstate(all="ignore"):
        squares = float(np.sum(finite * finite))
    if math.isfinite(shape.sum):
        assert abs(exact_sum(finite) - Fraction(shape.sum)) <= exact_sum(np.abs(finite)) / 10**12
    else:
        assert abs(exact_sum(finite)) > MAX
    assert shape.sum_squares == squares or abs(shape.sum_squares - squares) <= 1e-12 * squares


def exact_sum(values):
    try:
        return Fraction(math.fsum(values))
    except OverflowError:
        return sum(map(Fraction, values.tolist()), Fraction(0))


@given(hnp.arrays(REAL, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=30)))
def test_no_array_fails(values):
    check(values)


@given(st.lists(st.floats(width=32), max_size=300), st.sampled_from([np.float16, np.float32, np.float64]))
def test_no_floats_fail(values, dtype):
    with np.errstate(over="ignore"):
        check(np.array(values, np.float64).astype(dtype))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([8191, 8192, 20_000]),
    st.sampled_from(["f2", "f4", "f8", "i1", "u2", "i4", "i8", "u8", "?"]),
)
def test_large_arrays_of_any_bits_are_counted_exactly(seed, size, dtype):
    raw = np.random.default_rng(seed).bytes(size * np.dtype(dtype).itemsize)
    check((np.frombuffer(raw, "u1") & 1).view("?") if dtype == "?" else np.frombuffer(raw, dtype))


@given(
    seed=st.integers(0, 2**32 - 1),
    center=st.floats(-1e6, 1e6),
    spread=st.floats(-12, 6),
    size=st.integers(1, 3000),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_spread_values_are_counted_exactly(seed, center, spread, size, dtype):
    check((center + 10**spread * np.random.default_rng(seed).standard_normal(size)).astype(dtype))


@given(
    low=st.integers(-1000, 1000),
    steps=st.integers(1, 400),
    unit=st.sampled_from([1.0, 0.1, 1 / 3, 2.0**-20, 1e-30, 1e30]),
    size=st.integers(2, 3000),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@example(low=0, steps=9, unit=1.0, size=2000, dtype=np.float32)
def test_values_that_lie_on_edges_are_counted_exactly(low, steps, unit, size, dtype):
    check(((low + np.arange(size) % (steps + 1)) * unit).astype(dtype))


@pytest.mark.parametrize("share", [0.0002, 0.01, 0.6, 0.99])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_any_number_of_values_at_the_upper_end_is_counted_exactly(share, dtype):
    """Such as values that were cut to a range."""
    values = (np.random.default_rng(0).normal(size=20_000) * 1000).astype(dtype)
    high = values.max()
    values[1 : 1 + int(share * values.size)] = high
    shape = histogram(values)
    assert shape.counts.tolist() == np.histogram(values.astype(np.float64), shape.edges)[0].tolist()
    assert shape.counts[-1] >= int(share * values.size)



@pytest.mark.parametrize("dtype", ["u1", "i1", "?"])
@pytest.mark.parametrize("size", [2**18, 2**18 + 1, 2**21 + 3])
def test_many_bytes_are_counted_exactly(dtype, size):
    values = np.random.default_rng(size).integers(0, 256, size + 1, np.uint8)[1:]    # which begin at any address
    check((values % 3 == 0) if dtype == "?" else values.view(dtype))


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(1, 90))
@example(0.0, 5e-324, 90)
def test_edges_are_those_of_linspace(one, other, bins):
    low, high = sorted((one, other))
    wanted = np.linspace(low, high, bins + 1)
    if low < high and (np.diff(wanted) > 0).all():
        assert bucket_edges(low, high, bins).tolist() == wanted.tolist()


def test_sums_of_few_values_that_overflow_on_the_way():
    found = histogram(np.array([1.5e308, 1.5e308, -1.5e308, -1.0e308]))
    assert found.sum == pytest.approx(0.5e308)
    assert found.sum_squares == np.inf


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_values_beside_the_edges_are_counted_exactly(seed, dtype):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(2000).astype(dtype)
    edges = bucket_edges(float(values.min()), float(values.max()), 90)
    inner = edges[1:-1].astype(dtype)
    around = [inner, np.nextafter(inner, dtype(np.inf)), np.nextafter(inner, dtype(-np.inf))]
    check(np.concatenate([values, *around]))


EXTREMES = {
    "±1e308": [-1e308, 1e308, 0.0],
    "±max": [-MAX, MAX],
    "max alone": [MAX, MAX],
    "float32 ±max": np.array([-3.4028235e38, 3.4028235e38, 1], np.float32),
    "attention mask": np.array([-3.4028235e38, 0, 0, 0], np.float32),
    "int64 extremes": np.array([-(2**63), 2**63 - 1, 0]),
    "uint64 max": np.array([2**64 - 1, 0, 5], np.uint64),
    "uint64 max alone": np.array([2**64 - 1], np.uint64),
    "int8 extremes": np.array([-128, 127], np.int8),
    "subnormals": [5e-324, 1e-323, 0.0],
    "float32 subnormals": np.array([1e-45, 3e-45, 0], np.float32),
    "adjacent": [1.0, np.nextafter(1.0, 2)],
    "adjacent and large": [1e300, np.nextafter(1e300, np.inf)] * 50,
    "float32 adjacent": np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32),
    "float16 adjacent": np.array([1, np.nextafter(np.float16(1), np.float16(2))] * 9000, np.float16),
    "zeros of both signs": [0.0, -0.0],
    "2**52 and above": [2.0**52, 2.0**52 + 1, 2.0**52 + 2] * 400,
    "one huge": [1e17],
    "-huge": [-1e300] * 20,
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_are_counted(name):
    check(np.asarray(EXTREMES[name]))


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize <= 8, reason="longdouble is float64 here")
def test_a_longdouble_beyond_float64_counts_as_infinite():
    shape = recorded(np.array([np.longdouble("1e400"), np.longdouble(1)]))
    assert (shape.pos_inf, shape.finite) == (1, 1)


def test_va5_five_nan():
    shape = check(np.full(5, np.nan))
    assert (shape.count, shape.nan) == (5, 5)


def test_va5_an_empty_array():
    assert check(np.zeros((0, 3))).count == 0


def test_va6_nan_among_values():
    shape = check(np.array([1, 2, np.nan]))
    assert (shape.finite, shape.nan, shape.min, shape.max, shape.sum) == (2, 1, 1, 2, 3)


def test_va8_two_bools():
    shape = check(np.array([True, False]))
    assert shape.counts.tolist() == [1, 1]


def test_va8_integers_beyond_2_to_the_53():
    shape = check(np.array([2**53 + 1, 5]))
    assert shape.counts.tolist() == [1, 1]
    assert shape.counts.size <= 64


def test_va9_ten_equal_values():
    shape = check(np.full(10, 2.5))
    assert (shape.finite, shape.edges[0], shape.edges[-1]) == (10, 2.0, 3.0)


def test_va9_one_value_without_axes():
    assert check(np.array(7)).finite == 1


def test_va13_a_histogram_does_not_follow_changes():
    values = np.arange(4.0)
    kept = HISTOGRAM.snapshot(values)
    values[:] = 100
    assert HISTOGRAM.reduce(kept).max == 3


@pytest.mark.parametrize(
    ("finite", "buckets"), [(0, 0), (1, 2), (5, 2), (6, 3), (10, 3), (11, 2), (99, 10), (880, 89), (881, 89), (890, 90), (10**9, 90)]
)
def test_the_bucket_table_is_mindspores(finite, buckets):
    assert bucket_count(finite) == buckets


def test_a_sum_whose_way_overflows_is_right():
    assert recorded(np.array([1e308] * 20 + [-1e308] * 20 + [5e307])).sum == pytest.approx(5e307)
    assert recorded(np.array([1e308] * 20)).sum == math.inf


def test_sums_are_those_of_float64():
    values = np.array([2.0**24] + [1.0] * 1000, np.float32)
    assert recorded(values).sum == 2.0**24 + 1000


@pytest.mark.parametrize("size", [2**20 - 3, 2**20, 2**20 + 1, 2**21 + 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
def test_blocks_are_joined(size, dtype):
    check((np.random.default_rng(size).standard_normal(size) * 1000).astype(dtype))


def test_any_layout_in_memory_gives_the_same():
    values = np.random.default_rng(0).standard_normal((40, 50)).astype(np.float32)
    expected = histogram(values).counts.tolist()
    for form in (values.T, values[::-1], np.asfortranarray(values), values.astype(">f4")):
        assert recorded(form).counts.tolist() == expected


def test_threads_do_not_disturb_each_other():
    arrays = [np.random.default_rng(seed).standard_normal(200_000 + seed).astype(np.float32) for seed in range(8)]
    alone = [histogram(values).counts.tolist() for values in arrays]
    with ThreadPoolExecutor(4) as pool:
        assert [shape.counts.tolist() for shape in pool.map(histogram, arrays)] == alone
