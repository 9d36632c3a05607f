"""What a loop does with its gradients once the optimizer has used them: some are let go of, others are written again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from summarykit.lazy import loaded

LARGEST_WITNESS = 2**24
"""Elements of the one gradient that is kept from one look to the next, at most."""

LOOKS = 2
"""Gradients that must have been left alone: those of the first step may be alone in that. DDP's ``gradient_as_bucket_view`` lays out its
buckets anew behind it, and writes the new ones again and again."""

_TRAITS: Callable[[Any], tuple[bool, Any, Any, int]] = attrgetter("is_cpu", "layout", "dtype", "_version")


class Habit:
    """Tells the loops that leave a gradient alone from those that write it again, by what became of one of those before.

    ``optimizer.zero_grad()`` lets go of the gradients and PyTorch makes new ones, so that who holds the old ones has a snapshot.
    ``zero_grad(set_to_none=False)``, another ``backward()`` on top and everything else in place counts the tensor's version up; what
    does not (NumPy, a library of collectives) finds the next gradient where the last one is. A loop that did so once is never believed
    again, nor is one whose gradient was found changed when it was to be read.
    """

    def __init__(self) -> None:
        """Of the first gradients nobody knows what will become of them."""
        self._witness: Any = None
        self._place, self._count = 0, 0    # of the witness, among so many
        self._version = 0
        self._left_alone = 0    # times
        self._writes = False

    def keeps(self, gradients: Sequence[Any]) -> bool:
        """Tell, at one place in the step, whether the loop will leave these gradients alone, as it did with those of the looks before.

        Only for PyTorch's dense tensors in the host's memory: those on a device are not waited for anyway.
        """
        before, self._witness = self._witness, None
        if before is not None and before._version != self._version:
            self.distrust()
        if self._writes or not _ordinary(gradients):
            return False
        smallest = self._smallest(gradients)
        if before is not None and before.data_ptr() == smallest.data_ptr():
            self.distrust()
            return False
        if smallest.numel() <= LARGEST_WITNESS:
            self._witness, self._version = smallest, smallest._version
        self._left_alone += before is not None
        return before is not None and self._left_alone >= LOOKS

    def _smallest(self, gradients: Sequence[Any]) -> Any:
        """The one that was the smallest when there came to be so many: a network's gradients are as large as its parameters."""
        if len(gradients) != self._count:
            sizes = [*map(_numel, gradients)]
            self._place, self._count = sizes.index(min(sizes)), len(sizes)
        return gradients[self._place]

    def distrust(self) -> None:
        """Believe the loop no more."""
        self._writes = True

    def forget(self) -> None:
        """Let go of what is kept."""
        self._witness = None


def _numel(tensor: Any) -> int:
    return int(tensor.numel())


def _ordinary(gradients: Sequence[Any]) -> bool:
    """By a look at each in one call: there may be hundreds."""
    if {*map(type, gradients)} != {loaded("torch", "Tensor")}:
        return False
    try:
        found = {*map(_TRAITS, gradients)}
    except RuntimeError:    # those made in inference mode have no version
        return False
    strided = sys.modules["torch"].strided
    return all(is_cpu and layout is strided and not dtype.is_complex for is_cpu, layout, dtype, _ in found)
