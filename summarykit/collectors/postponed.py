"""A norm that the writer's thread takes: of gradients that the loop is done with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from summarykit.collectors.habit import Habit
from summarykit.collectors.norms import Alone, each_alone, norm, together
from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, Typed

LARGEST = 2**28
"""Bytes that are kept alive for it, at most."""

PART = 2**23
"""Bytes that are read at a time, at least. Of 47 MB let go of part by part, the loop's own next step had 0.5 ms less to wait for memory."""

_ADDRESS: Callable[[Any], int] = methodcaller("data_ptr")
_NBYTES: Callable[[Any], int] = attrgetter("nbytes")
_VERSION: Callable[[Any], int] = attrgetter("_version")


class PostponedNorm(Later):
    """The norm of arrays as they are now, taken when it is asked for; where one has changed by then it is refused.

    They are read from the last to the first, as a backward pass makes them, and each part is let go of when it was read: so the next
    backward pass finds memory that the caches still hold.
    """

    __slots__ = ("_belied", "_found", "_left", "nbytes")

    shape = ()
    nbytes: int

    def __init__(self, arrays: Sequence[Any], nbytes: int, belied: Callable[[], None]) -> None:
        """Keep the arrays, tensors of PyTorch, so large. If they are others when they are read, ``belied`` is called, by any thread."""
        self._belied = belied
        self._left = _Left([*arrays], _versions(arrays), {})
        self._found: Typed | None = None
        self.nbytes = nbytes

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
            torch: Any = sys.modules["torch"]
            left = self._left    # its own: another thread may be on the same way, and be further or not so far
            with torch.no_grad():
                while left.arrays:
                    left = self._left = self._read(torch, *left)    # at once: Ctrl-C may come in between, and this be called again
                found = np.array(float(together(torch, left.alone)))
            self.nbytes, self._found = 0, Typed(found, "float32", own=True)
        return self._found

    def _read(self, torch: Any, arrays: list[Any], versions: list[tuple[int, int]], alone: Alone) -> _Left:
        begin, nbytes = len(arrays), 0
        while begin and nbytes < PART:
            begin -= 1
            nbytes += arrays[begin].nbytes
        found = each_alone(torch, arrays[begin:])
        if _versions(arrays[begin:]) != versions[begin:]:
            self._belied()
            raise RefusedValueError("the gradients were written again before their norm was taken: those to come are read in the call")
        others = {key: alone[key] for key in alone if key not in found}
        return _Left(arrays[:begin], versions[:begin], {key: [*each, *alone.get(key, ())] for key, each in found.items()} | others)


class _Left(NamedTuple):
    """What is yet to be read, and the norms of what was."""

    arrays: list[Any]
    versions: list[tuple[int, int]]
    alone: Alone


class Postponing:
    """Postpones norms where the loop leaves its gradients alone."""

    def __init__(self) -> None:
        """Of the first gradients nobody knows."""
        self._habit = Habit()

    def norm(self, gradients: Sequence[Any]) -> Any:
        """The norm, or, where these gradients will stay as they are, a postponed one."""
        if self._habit.keeps(gradients) and (nbytes := sum(map(_NBYTES, gradients))) <= LARGEST:
            return PostponedNorm(gradients, nbytes, self._habit.distrust)
        return norm(gradients)


def _versions(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    return [*zip(map(_ADDRESS, arrays), map(_VERSION, arrays), strict=True)]
