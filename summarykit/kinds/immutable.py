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
from typing import Any

from summarykit.kinds.arrays import Held, Typed, typed
from summarykit.kinds.frameworks import JAX, in_host
from summarykit.lazy import loaded


def frozen_together(values: Sequence[Any]) -> Sequence[Any]:
    """Freeze computed arrays of JAX on one device.

    Args:
        values: of one framework. Those of another are given back, as are those that cannot be frozen: each by itself says why.
    """
    array = loaded("jax", "Array")
    if not all(isinstance(value, array) for value in values):
        return values
    try:
        return _frozen(values)
    except Exception:  # noqa: BLE001  a tracer, a deleted array, one that memory is lacking for: the others are not to be lost for it
        return values


def _frozen(values: Sequence[Any]) -> Sequence[Any]:
    if all(map(in_host, values)):
        return [_view(value) for value in values]
    if len({device for value in values for device in value.devices()}) > 1:
        return values
    return [Held(copy, JAX) for copy in _copier(sys.modules["jax"])(values)]


def _view(value: Any) -> Typed:
    found = typed(value)
    return Typed(found.data, found.dtype, own=True)


@cache
def _copier(jax: Any) -> Any:
    return jax.jit(lambda values: [value.copy() for value in values])
