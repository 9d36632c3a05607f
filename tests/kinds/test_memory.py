"""Copies lie where they disturb nobody: never on top of one another."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summarykit.kinds.memory import LEAST_LENT, Lending, copied


def span(array):
    start = array.ctypes.data
    return start, start + array.nbytes


@given(st.lists(st.tuples(st.integers(1, 3 * 2**17), st.sampled_from(["u1", "<i2", "<f4", "<f8"])), min_size=1, max_size=20))
def test_copies_hold_their_values_and_never_overlap(wanted):
    given = [np.random.default_rng(number).integers(0, 100, n).astype(dtype) for number, (n, dtype) in enumerate(wanted)]
    copies = [copied(array, array.dtype) for array in given]
    assert all((copy == array).all() and copy.dtype == array.dtype for copy, array in zip(copies, given, strict=True))
    spans = sorted(map(span, copies))
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert all(copy.ctypes.data % copy.itemsize == 0 for copy in copies)


def test_any_layout_becomes_contiguous():
    array = np.arange(3 * LEAST_LENT, dtype=np.float32).reshape(3, -1).T[::2]
    copy = copied(array, array.dtype)
    assert copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, array)


def test_lent_memory_comes_first():
    lent = np.zeros(2**20, np.uint8)
    with Lending(lambda nbytes: lent[:nbytes]):
        copy = copied(np.ones(LEAST_LENT, np.uint8), np.dtype(np.uint8))
    assert np.shares_memory(copy, lent)
    assert not np.shares_memory(copied(np.ones(LEAST_LENT, np.uint8), np.dtype(np.uint8)), lent)
