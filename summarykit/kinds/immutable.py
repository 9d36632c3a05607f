"""Arrays of JAX, many at once: nobody writes to them, but a train step may be given their memory.

What is computed and lies in the host's memory need not be copied: as long as NumPy looks at an array, JAX lets no step have its memory,
and takes other for the result. The rest is copied on its device by one call for all: each by itself would take the training thread 20 µs,
and JAX lets only 32 wait to be run before it lets the caller wait, too.

Only for arrays that JAX has computed, such as parameters: one that ``jax.device_put`` made may look at memory of NumPy that its owner
fills anew when the array is gone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from summarykit.kinds.arrays import Held, Typed
from summarykit.kinds.dtypes import is_native, name_of
from summarykit.kinds.frameworks import JAX
from summarykit.lazy import loaded

_DTYPE, _PLACE = attrgetter("dtype"), attrgetter("sharding")
_IS_DELETED, _IS_READY = methodcaller("is_deleted"), methodcaller("is_ready")


def frozen_together(values: Sequence[Any]) -> Sequence[Any]:
    """Freeze computed arrays of JAX on one device.

    Args:
        values: of one framework. Those of another are given back, as are those that cannot be frozen: each by itself says why.
    """
    array = loaded("jax", "Array")
    if not all(issubclass(kind, array) for kind in {*map(type, values)}):
        return values
    try:
        return _frozen(values)
    except Exception:  # noqa: BLE001  a tracer, a deleted array, one that memory is lacking for: the others are not to be lost for it
        return values


def _frozen(values: Sequence[Any]) -> Sequence[Any]:
    devices, dtypes = _devices(values), [*map(_DTYPE, values)]
    # The process ends where a deleted array is asked whether it is ready.
    if len(devices) > 1 or any(map(_IS_DELETED, values)) or any(getattr(dtype, "kind", "") == "c" for dtype in {*dtypes}):
        return values
    # Another thread widens extensions of NumPy's dtypes: that takes long. The dtype of random keys is none of NumPy's: they are refused.
    if all(device.platform == "cpu" for device in devices) and all(map(_is_numpys, {*dtypes})) and all(map(_IS_READY, values)):
        return [Typed(data, name_of(dtype), own=True) for data, dtype in zip(map(np.asarray, values), dtypes, strict=True)]
    return [Held(copy, JAX) if isinstance(copy.dtype, np.dtype) else copy for copy in _copier(sys.modules["jax"])(values)]


def _devices(values: Sequence[Any]) -> set[Any]:
    """Where they lie; arrays that one call made share what says so."""
    places = {id(place): place for place in map(_PLACE, values)}
    return set().union(*(place.device_set for place in places.values()))


def _is_numpys(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and is_native(dtype)


@cache
def _copier(jax: Any) -> Any:
    return jax.jit(lambda values: [value.copy() for value in values])
