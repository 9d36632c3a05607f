"""Tensor: a whole array, every value exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Frozen, Typed, freeze
from summarykit.kinds.kind import no_options
from summarykit.shapes import Array, Tensor


class TensorKind:
    """An array of any real dtype and shape, with the name of the dtype it was recorded with."""

    name = "tensor"
    light = True

    def snapshot(self, value: Any, **options: Any) -> Frozen:
        """Copy it once, or keep it on its device.

        Raises:
            RefusedValueError: not an array of real numbers, or a longdouble that float64 does not hold exactly.
        """
        no_options(self.name, options)
        frozen = freeze(value)
        if isinstance(frozen, Typed) and frozen.data.dtype.itemsize > 8:
            return Typed(_exact_float64(frozen.data), frozen.dtype, own=True)
        return frozen

    def reduce(self, snapshot: Frozen) -> Tensor:
        """Give the array and its dtype's name.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        found = snapshot.get()
        return Tensor(np.ascontiguousarray(found.data, found.data.dtype.newbyteorder("<")).reshape(found.shape), found.dtype)


def _exact_float64(array: Array) -> Array:
    with np.errstate(all="ignore"):
        narrow = array.astype("<f8")
    if not np.array_equal(narrow, array, equal_nan=True):
        raise RefusedValueError(f"tensor: {array.dtype} values that float64 does not hold exactly are refused; record .astype('float64')")
    return narrow


TENSOR = TensorKind()
