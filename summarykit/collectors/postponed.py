"""A norm that the writer's thread takes: of gradients that the loop is done with."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from summarykit.collectors.norms import norm
from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, Typed

LARGEST = 2**28
"""Bytes that are kept alive for it, at most."""


class PostponedNorm(Later):
    """The norm of arrays as they are now, taken when it is asked for; where one has changed by then it is refused."""

    __slots__ = ("_arrays", "_found", "_versions")

    shape = ()

    def __init__(self, arrays: Sequence[Any]) -> None:
        """Keep the arrays, tensors of PyTorch."""
        self._arrays: Sequence[Any] = arrays
        self._versions = _versions(arrays)
        self._found: Typed | None = None

    @property
    def nbytes(self) -> int:
        """Memory that it keeps, in bytes."""
        return _size(self._arrays)

    @property
    def settled(self) -> bool:
        """Whether it was taken."""
        return self._found is not None

    def get(self) -> Typed:
        """Take the norm, the first time.

        Raises:
            RefusedValueError: the arrays have changed.
        """
        if self._found is None:
            found = np.array(float(norm(self._arrays)))
            if _versions(self._arrays) != self._versions:
                raise RefusedValueError("the gradients changed before their norm was taken (use fence=False)")
            self._arrays, self._found = (), Typed(found, "float32", own=True)
        return self._found


class Postponing:
    """Tells loops that replace their gradients (``optimizer.zero_grad()``) from those that zero them in place."""

    def __init__(self) -> None:
        """Of the first gradients nobody knows."""
        self._before: weakref.ref[Any] | None = None

    def norm(self, gradients: Sequence[Any]) -> Any:
        """The norm, or, where the loop gave other objects than the last time and so leaves these alone, a postponed one."""
        before, self._before = self._before, weakref.ref(gradients[0]) if _postponable(gradients) else None
        replaced = before is not None and self._before is not None and before() is not gradients[0]
        return PostponedNorm(gradients) if replaced and _size(gradients) <= LARGEST else norm(gradients)


def _postponable(arrays: Sequence[Any]) -> bool:
    """True for PyTorch's dense tensors in the host's memory: those on a device are not waited for anyway."""
    torch = sys.modules.get("torch")
    if torch is None or not arrays:
        return False
    return all(type(array) is torch.Tensor and array.is_cpu and array.layout is torch.strided for array in arrays)


def _versions(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    return [(array.data_ptr(), array._version) for array in arrays]


def _size(arrays: Sequence[Any]) -> int:
    return sum(array.numel() * array.element_size() for array in arrays)
