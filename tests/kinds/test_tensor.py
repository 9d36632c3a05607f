"""Tensors: every value exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.kinds.tensor import TENSOR

LONG = np.dtype(np.longdouble)
EXTENDED = pytest.mark.skipif(LONG.itemsize <= 8, reason="longdouble is float64 here")


@given(hnp.arrays(hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf"), hnp.array_shapes(min_dims=0, min_side=0)))
def test_va1_every_dtype_and_shape_is_exact(values):
    shape = TENSOR.reduce(TENSOR.snapshot(values))
    assert shape.data.shape == values.shape
    assert np.array_equal(shape.data, values, equal_nan=values.dtype.kind == "f")
    assert shape.dtype == values.dtype.name
    assert shape.data.dtype == values.dtype.newbyteorder("<")
    assert shape.data.flags.c_contiguous


def test_va8_integers_beyond_2_to_the_53_are_exact():
    assert TENSOR.reduce(TENSOR.snapshot(np.array([2**53 + 1, 2**63 - 1]))).data.tolist() == [2**53 + 1, 2**63 - 1]


def test_va13_a_tensor_does_not_follow_changes():
    values = np.arange(3)
    kept = TENSOR.snapshot(values)
    values[:] = 9
    assert TENSOR.reduce(kept).data.tolist() == [0, 1, 2]


@EXTENDED
def test_a_longdouble_is_kept_where_float64_holds_it():
    shape = TENSOR.reduce(TENSOR.snapshot(np.array([1.5, np.nan, np.inf], np.longdouble)))
    assert (shape.data.dtype, shape.dtype) == (np.float64, LONG.name)
    assert np.array_equal(shape.data, [1.5, np.nan, np.inf], equal_nan=True)


@EXTENDED
@pytest.mark.parametrize("text", ["1e400", "0.1"])
def test_a_longdouble_beyond_float64_is_refused(text):
    with pytest.raises(RefusedValueError, match="exactly"):
        TENSOR.snapshot(np.array([np.longdouble(text)]))
