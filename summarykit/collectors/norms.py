"""The Euclidean norm over many arrays of any framework: no device is waited for, no framework imported."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np

from summarykit.lazy import loaded


def norm(arrays: Iterable[Any]) -> Any:
    """Take the norm over all numbers of all arrays, as if they were one vector.

    Args:
        arrays: of NumPy, PyTorch (dense or sparse, on one device or several), JAX or MindSpore; those of one call of one framework.

    Returns:
        A number, or an array without axes that is still on its device; None where there are no arrays, and for sharded ones: each
        process holds a part of them, and only all together could tell. (Of arrays that each process holds as a whole it can.)
    """
    found = [_whole(array) for array in arrays]
    if not found or any(array is None for array in found):
        return None
    if _all(found, "torch", "Tensor"):
        torch: Any = sys.modules["torch"]
        with torch.no_grad():
            return _of_tensors(torch, found)
    if _all(found, "jax", "Array"):
        return _compiled(sys.modules["jax"])(found)
    return reduce(add, map(_squares, found)) ** 0.5


def _all(arrays: list[Any], module: str, name: str) -> bool:
    kind = loaded(module, name)
    return all(isinstance(array, kind) for array in arrays)


def _whole(array: Any) -> Any:
    """What this process holds of a distributed array, if that is all of it; None: it is a part, or one term of a sum."""
    if not hasattr(array, "to_local"):
        # JAX itself would put a sharded one together, and wait for processes that are not asked.
        return array if getattr(array, "is_fully_addressable", True) or array.is_fully_replicated else None
    if any(placement.is_partial() for placement in array.placements):
        return None
    local = array.to_local()
    return local if local.shape == array.shape else None


def _of_tensors(torch: Any, tensors: list[Any]) -> Any:
    return together(torch, each_alone(torch, tensors))


Alone = dict[tuple[Any, Any], list[Any]]
"""The norms of tensors each by itself, by their device and dtype."""


def each_alone(torch: Any, tensors: Iterable[Any]) -> Alone:
    """Take the norms of tensors of PyTorch, each by itself."""
    alike: Alone = {}
    for tensor in tensors:
        alike.setdefault((tensor.device, tensor.dtype), []).append(_dense(tensor.detach()))
    return {key: _norms(torch, each) for key, each in alike.items()}


def together(torch: Any, alone: Alone) -> Any:
    """Take the norm of all from those of each; it comes together on an accelerator, since the other way round one would wait for it."""
    found = [torch.linalg.vector_norm(torch.stack(each)).float() for each in alone.values()]
    home = next((device for device, _ in alone if device.type != "cpu"), None)
    return found[0] if len(found) == 1 else torch.linalg.vector_norm(torch.stack([one.to(home, non_blocking=True) for one in found]))


def _norms(torch: Any, tensors: list[Any]) -> list[Any]:
    """Of tensors of one device and dtype each by itself; as float32 or more: the sum of squares of halves would overflow at 65,504.

    In one call: each of PyTorch's gives the interpreter free, and who takes the norms beside the training would let it wait as often.
    ``torch.dot`` would be quicker on an idle machine, but is spread over threads: where others want the processors, too, it waits for
    the slowest (measured: 78 ms in place of 2.4).
    """
    dtype = tensors[0].dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        tensors = [tensor.float() for tensor in tensors]
    wide = torch.float32 if dtype.is_floating_point and dtype.itemsize < 4 else None
    try:
        found: list[Any] = torch._foreach_norm(tensors, 2, dtype=wide)
    except (AttributeError, TypeError, NotImplementedError):    # PyTorch before 2.4, or a device or dtype that it cannot do so
        found = [torch.linalg.vector_norm(tensor, dtype=wide) for tensor in tensors]
    return found


def _dense(tensor: Any) -> Any:
    return tensor.coalesce().values() if tensor.is_sparse else tensor


def _squares(array: Any) -> Any:
    """The sum of the squares; of JAX and MindSpore by operators that both have."""
    if not isinstance(array, (np.ndarray, np.generic, int, float)):
        return _wide_squares(array)
    flat = np.asarray(array, None if getattr(array, "dtype", None) in (np.float32, np.float64) else np.float64).reshape(-1)
    return float(np.dot(flat, flat))


def _wide_squares(array: Any) -> Any:
    wide = array.astype("float32") if array.dtype.itemsize < 4 else array
    return (wide * wide).sum()


@cache
def _compiled(jax: Any) -> Any:
    """The same of all at one go: each array by itself would take the training thread 25 µs, and JAX lets the caller of many wait."""
    return jax.jit(lambda arrays: reduce(add, map(_wide_squares, arrays)) ** 0.5)
