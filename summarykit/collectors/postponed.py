"""A norm that the writer's thread takes: of gradients that the loop is done with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from summarykit.collectors.habit import Habit
from summarykit.collectors.norms import norm
from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, Typed

LARGEST = 2**28
"""Bytes that are kept alive for it, at most."""


class PostponedNorm(Later):
    """The norm of arrays as they are now, taken when it is asked for; where one has changed by then it is refused."""

    __slots__ = ("_arrays", "_belied", "_found", "_versions")

    shape = ()

    def __init__(self, arrays: Sequence[Any], belied: Callable[[], None]) -> None:
        """Keep the arrays, tensors of PyTorch. If they are others when they are read, ``belied`` is called, by any thread."""
        self._belied = belied
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
                self._belied()
                raise RefusedValueError("the gradients were written again before their norm was taken: those to come are read in the call")
            self._arrays, self._found = (), Typed(found, "float32", own=True)
        return self._found


class Postponing:
    """Postpones norms where the loop leaves its gradients alone."""

    def __init__(self) -> None:
        """Of the first gradients nobody knows."""
        self._habit = Habit()

    def norm(self, gradients: Sequence[Any]) -> Any:
        """The norm, or, where these gradients will stay as they are, a postponed one."""
        postponed = self._habit.keeps(gradients) and _size(gradients) <= LARGEST
        return PostponedNorm(gradients, self._habit.distrust) if postponed else norm(gradients)


def _versions(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    return [(array.data_ptr(), array._version) for array in arrays]


def _size(arrays: Sequence[Any]) -> int:
    return sum(array.numel() * array.element_size() for array in arrays)
