"""Scalar: one real number a step, exact as float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Held, described, hold, typed
from summarykit.kinds.kind import no_options
from summarykit.shapes import Scalar


class ScalarKind:
    """One number: Python's and NumPy's, anything with ``__float__``, arrays and tensors of one element."""

    name = "scalar"

    def snapshot(self, value: Any, **options: Any) -> float | Held:
        """Give the number as float64, or hold it where a device has yet to compute it.

        Raises:
            RefusedValueError: not one real number, or beyond the range of float64.
        """
        if type(value) is float and not options:
            return value
        no_options(self.name, options)
        held = hold(value)
        if held is None:
            return number(value)
        _check_size(held.shape)
        return held

    def reduce(self, snapshot: float | Held) -> Scalar:
        """Wrap the number.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        return Scalar(snapshot if isinstance(snapshot, float) else number(snapshot.get().data))


def number(value: Any) -> float:
    """Give the float64 of one real number; integers beyond 2**53 are rounded to the nearest.

    Raises:
        RefusedValueError: as `ScalarKind.snapshot`.
    """
    if isinstance(value, (float, int)) or _only_a_number(value):
        return _to_float(value)
    array = typed(value).data
    _check_size(array.shape)
    return _to_float(array.item())


def _only_a_number(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__float__") and not hasattr(kind, "__array__") and not isinstance(value, np.generic)


def _check_size(shape: tuple[int, ...]) -> None:
    if math.prod(shape) != 1:
        raise RefusedValueError(f"scalar takes one number; got an array of shape {shape}. Record its mean, or a histogram.")


def _to_float(value: Any) -> float:
    try:
        result = float(value)
    except Exception as error:  # __float__ is the user's code and may raise anything; it costs this value only
        raise RefusedValueError(f"{described(value)} gave no float: {type(error).__name__}: {error}") from error
    if math.isinf(result) and value != result:
        raise RefusedValueError(f"{described(value)} is beyond the range of float64")
    return result


SCALAR = ScalarKind()
