"""Scalar: one real number a step, exact as float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, described, guarded, hold, typed
from summarykit.kinds.dtypes import is_native
from summarykit.kinds.frameworks import framework_of
from summarykit.kinds.kind import no_options
from summarykit.shapes import Scalar

_NUMBERS = (int, float, np.generic)


class ScalarKind:
    """One number: Python's and NumPy's, anything with ``__float__``, arrays and tensors of one element."""

    name = "scalar"

    def snapshot(self, value: Any, **options: Any) -> float | Later:
        """Give the number as float64, or hold it where it has yet to be computed.

        Raises:
            RefusedValueError: not one real number, or beyond the range of float64.
        """
        if type(value) is float and not options:
            return value
        no_options(self.name, options)
        if isinstance(value, Later):
            return value
        held = None if isinstance(value, _NUMBERS) else hold(value)
        if held is None:
            return number(value)
        _check_size(held.shape)
        return held

    def reduce(self, snapshot: float | Later) -> Scalar:
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
    framework = framework_of(value)
    if framework is not None:
        _check_size(value.shape)
        return _to_float(guarded(value, framework.item))
    array = typed(value).data
    _check_size(array.shape)
    return _to_float(array.item())


def _only_a_number(value: Any) -> bool:
    kind = type(value)
    if issubclass(kind, np.generic):
        return is_native(value.dtype)
    return hasattr(kind, "__float__") and not hasattr(kind, "__array__") and not hasattr(kind, "shape")


def _check_size(shape: tuple[int, ...]) -> None:
    if math.prod(shape) != 1:
        raise RefusedValueError(f"scalar takes one number; got an array of shape {shape}. Record its mean, or a histogram.")


def _to_float(value: Any) -> float:
    result = guarded(value, float)
    if math.isinf(result) and value != result:
        raise RefusedValueError(f"{described(value)} is beyond the range of float64")
    return result


SCALAR = ScalarKind()
