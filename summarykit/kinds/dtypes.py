"""Which dtypes can be recorded, and how those of other packages (bfloat16, float8, int4 …) become NumPy's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.shapes import Array

DType = np.dtype[Any]

ALLOWED = "allowed: bool, integers and real floats of any width, bfloat16, float8 and int4 included"
_CANDIDATES = (np.uint8, np.int8, np.float16, np.float32, np.float64)


@functools.cache
def is_native(dtype: DType) -> bool:
    """Tell whether NumPy itself computes with it as a real number: bool, integers, floats up to longdouble."""
    return dtype.kind in "biuf" and issubclass(dtype.type, (np.bool_, np.integer, np.floating))


def is_extension(dtype: DType) -> bool:
    """Tell whether another package registered it with NumPy as a small number type (ml_dtypes does)."""
    return dtype.isbuiltin == 2 and dtype.itemsize <= 2 and dtype.type is not np.void


@functools.cache
def name_of(dtype: DType) -> str:
    """Give ``dtype.name``, which NumPy composes anew each time."""
    return dtype.name


@functools.cache
def little_endian(dtype: DType) -> DType:
    """Give the same dtype in the byte order of our files."""
    return dtype.newbyteorder("<")


def native(array: Array) -> Array:
    """Give the values in a dtype of NumPy: the array itself, or an exact, wider copy of an extension dtype's.

    Raises:
        RefusedValueError: complex, object, text, time or structured data.
    """
    if is_native(array.dtype):
        return array
    if is_extension(array.dtype):
        return array.astype(_wider(array.dtype))
    advice = " Record .real and .imag apart." if array.dtype.kind == "c" else ""
    raise RefusedValueError(f"an array of dtype {array.dtype} and shape {array.shape} cannot be recorded; {ALLOWED}.{advice}")


@functools.cache
def _wider(dtype: DType) -> DType:
    """Find the smallest dtype that holds every value: by trying all of them, so no list of names has to be kept up."""
    width = 8 * dtype.itemsize
    with np.errstate(all="ignore"):
        every = np.arange(1 << width, dtype=f"uint{width}").view(dtype)
        exact = every.astype(np.float64)
        for candidate in _CANDIDATES:
            if np.array_equal(every.astype(candidate).astype(np.float64), exact, equal_nan=True):
                return np.dtype(candidate)
    raise RefusedValueError(f"dtype {dtype} cannot be recorded: no NumPy dtype holds it exactly; {ALLOWED}")
