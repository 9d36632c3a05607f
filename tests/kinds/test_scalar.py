"""Scalars: one exact number."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.errors import RefusedValueError
from summarykit.kinds.scalar import SCALAR


def recorded(value):
    snapshot = SCALAR.snapshot(value)
    assert type(snapshot) is float
    return SCALAR.reduce(snapshot).value


@given(st.floats())
def test_va1_floats_are_exact(value):
    for form in (value, np.float64(value), np.array(value), np.array([[value]], ">f8"), [value], ((value,),)):
        assert np.array_equal(recorded(form), value, equal_nan=True)


@pytest.mark.parametrize("value", [1234567.890123, 16777217, 1e39, -0.0])
def test_va1_what_float32_would_round_is_exact(value):
    assert recorded(value) == value
    assert math.copysign(1, recorded(value)) == math.copysign(1, value)


@given(st.integers(-(2**53), 2**53))
def test_integers_up_to_2_to_the_53_are_exact(value):
    assert recorded(value) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_va2_not_finite_values_are_kept(value):
    for form in (value, np.float16(value), Decimal(str(value))):
        assert np.array_equal(recorded(form), value, equal_nan=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, 1.0),
        (np.True_, 1.0),
        (Fraction(1, 4), 0.25),
        (Decimal("0.1"), 0.1),
        (np.uint64(2**64 - 1), 2.0**64),
        (2**70, 2.0**70),
        (np.longdouble(1.5), 1.5),
        (np.array([[[7]]], np.int8), 7.0),
        (np.ma.array([3.0], mask=[False]), 3.0),
    ],
    ids=repr,
)
def test_everything_that_is_one_number_is_taken(value, expected):
    assert recorded(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "1.5",
        b"1",
        np.str_("1"),
        np.array("1"),
        None,
        1j,
        np.complex64(1),
        np.datetime64("2024-01-01", "ns"),
        np.timedelta64(1, "s"),
        object(),
        np.array(None),
        [],
        [1, 2],
        np.zeros((2, 1)),
        {},
        10**400,
        Decimal("1e400"),
        Fraction(10**400),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_everything_else_is_refused(value):
    with pytest.raises(RefusedValueError):
        SCALAR.snapshot(value)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="longdouble is float64 here")
def test_a_longdouble_beyond_float64_is_refused():
    with pytest.raises(RefusedValueError, match="float64"):
        SCALAR.snapshot(np.longdouble("1e400"))


def test_a_raising_float_method_costs_that_value():
    class Bad:
        def __float__(self):
            raise ZeroDivisionError("no")

    with pytest.raises(RefusedValueError, match="ZeroDivisionError: no") as refusal:
        SCALAR.snapshot(Bad())
    assert isinstance(refusal.value.__cause__, ZeroDivisionError)


def test_an_unknown_option_is_an_error_of_the_call():
    with pytest.raises(TypeError, match="dataformat"):
        SCALAR.snapshot(1, dataformat="HW")
    with pytest.raises(TypeError, match="dataformat"):
        SCALAR.snapshot(1.0, dataformat="HW")
