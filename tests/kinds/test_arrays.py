"""Any value as an array, and frozen."""

from __future__ import annotations

import array
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.kinds import KINDS
from summarykit.kinds.arrays import Later, freeze, typed

REAL = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
UNREAL = [
    np.array([1 + 2j]),
    np.array([None, 1]),
    np.array(["a"]),
    np.array([b"a"]),
    np.array(["2024-01-01"], "datetime64[s]"),
    np.array([1], "timedelta64[s]"),
    np.zeros(2, [("a", int)]),
    np.zeros(2, "V4"),
]


def same(one, other):
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@given(hnp.arrays(REAL, SHAPES))
def test_every_real_array_is_frozen_exactly(values):
    frozen = freeze(values)
    assert same(frozen.data, values)
    assert frozen.dtype == values.dtype.name
    assert frozen.data.flags.c_contiguous
    assert frozen.data.dtype == values.dtype.newbyteorder("<")
    assert frozen.nbytes == values.nbytes
    assert not np.shares_memory(frozen.data, values)


@given(hnp.arrays(REAL, hnp.array_shapes(min_dims=2, max_dims=3, min_side=2, max_side=5)), st.data())
def test_views_of_any_strides_are_frozen(values, data):
    view = values.T[:: data.draw(st.sampled_from([1, -1, 2]))]
    frozen = freeze(view)
    assert same(frozen.data, view)
    assert frozen.data.flags.c_contiguous


@pytest.mark.parametrize("values", UNREAL, ids=lambda values: str(values.dtype))
def test_what_is_no_real_number_is_refused_by_name(values):
    with pytest.raises(RefusedValueError, match="allowed: bool") as refusal:
        freeze(values)
    assert str(values.dtype) in str(refusal.value)


@pytest.mark.parametrize("value", [None, "text", b"text", {}, {1.0}, object(), Decimal(1), lambda: 0, (i for i in [1]), 1j], ids=repr)
def test_what_is_no_array_is_refused_by_type(value):
    with pytest.raises(RefusedValueError, match=type(value).__name__):
        freeze(value)


@pytest.mark.parametrize("values", [[1, [2, 3]], [[1, 2], [3]], ["a", "b"], [None], [2**70], [1, 2j], [object()]], ids=repr)
def test_lists_of_anything_else_are_refused(values):
    with warnings.catch_warnings(), pytest.raises(RefusedValueError):
        warnings.simplefilter("error")
        freeze(values)


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1.5, "float64", ()),
        (3, "int64", ()),
        (True, "bool", ()),
        (np.float32(2), "float32", ()),
        ([1, 2.5], "float64", (2,)),
        (([1, 2], [3, 4]), "int64", (2, 2)),
        ([np.float32(1), np.float32(2)], "float32", (2,)),
        ([], "float64", (0,)),
        (array.array("d", [1, 2]), "float64", (2,)),
        (memoryview(b"ab"), "uint8", (2,)),
        (range(3), "int64", (3,)),
    ],
    ids=repr,
)
def test_numbers_sequences_and_buffers_are_taken(value, dtype, shape):
    frozen = freeze(value)
    assert (frozen.dtype, frozen.shape) == (dtype, shape)
    assert type(frozen.data) is np.ndarray


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_subclass_becomes_a_plain_array():
    assert type(freeze(np.matrix([[1, 2]])).data) is np.ndarray


def test_an_object_with_array_is_taken_and_copied():
    class Wrapper:
        inner = np.arange(3)

        def __array__(self, dtype=None, copy=None):
            return self.inner

    frozen = freeze(Wrapper())
    Wrapper.inner[:] = 7
    assert frozen.data.tolist() == [0, 1, 2]


def test_an_object_with_dlpack_alone_is_taken():
    class Wrapper:
        inner = np.arange(3.0)

        def __dlpack__(self, **options):
            return self.inner.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.inner.__dlpack_device__()

    assert freeze(Wrapper()).data.tolist() == [0, 1, 2]


def test_a_raising_array_method_costs_that_value():
    class Bad:
        def __array__(self, dtype=None, copy=None):
            raise ZeroDivisionError("no")

    with pytest.raises(RefusedValueError, match="Bad could not be read: ZeroDivisionError: no") as refusal:
        freeze(Bad())
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_va12_a_value_that_raises_at_every_turn_costs_that_value():
    class Poison:
        shape = dtype = __array__ = __dlpack__ = property(lambda self: 1 / 0)

        def __getattr__(self, name):
            raise ZeroDivisionError(name)

        def __float__(self):
            raise ZeroDivisionError("float")

    for name in ("scalar", "histogram", "image", "tensor"):
        with pytest.raises(RefusedValueError, match="Poison"):
            KINDS.get(name).snapshot(Poison())


def test_masked_entries_of_floats_are_nan_and_of_integers_refused():
    assert np.array_equal(freeze(np.ma.array([1.0, 2.0], mask=[0, 1])).data, [1, np.nan], equal_nan=True)
    assert freeze(np.ma.array([1, 2], mask=[0, 0])).data.tolist() == [1, 2]
    with pytest.raises(RefusedValueError, match="masked"):
        freeze(np.ma.array([1, 2], mask=[0, 1]))


def test_va13_a_frozen_array_does_not_follow_changes():
    values = np.arange(4.0)
    frozen = freeze(values)
    values[:] = -1
    assert frozen.data.tolist() == [0, 1, 2, 3]


def test_typed_shares_memory_where_it_can():
    values = np.arange(4.0)
    assert np.shares_memory(typed(values).data, values)


class OnDevice(Later):
    """A value that comes to host memory at some time."""

    nbytes, shape, settled = 12, (3,), False

    def get(self):
        return typed(np.arange(3, dtype="f4"))


def test_a_value_goes_to_another_process_only_once_it_is_in_host_memory():
    value = OnDevice()
    with pytest.raises(TypeError, match="not in host memory"):
        pickle.dumps(value)
    value.settled = True
    assert pickle.loads(pickle.dumps(value)).data.tolist() == [0, 1, 2]
