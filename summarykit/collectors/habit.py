"""What a loop does with its gradients once the optimizer has used them: some are let go of, others are written again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

LARGEST_WITNESS = 2**24
"""Elements of the one gradient that is kept from one look to the next, at most."""


class Habit:
    """Tells the loops that leave a gradient alone from those that write it again, by what became of one of those before.

    ``optimizer.zero_grad()`` lets go of the gradients and PyTorch makes new ones, so that who holds the old ones has a snapshot.
    ``zero_grad(set_to_none=False)``, another ``backward()`` on top and everything else in place counts the tensor's version up. A loop
    that did so once is never believed again.
    """

    def __init__(self) -> None:
        """Of the first gradients nobody knows what will become of them."""
        self._witness: Any = None
        self._version = 0
        self._writes = False

    def keeps(self, gradients: Sequence[Any]) -> bool:
        """Tell, at one place in the step, whether the loop will leave these gradients alone, as it did with those of the look before.

        Only for PyTorch's dense tensors in the host's memory: those on a device are not waited for anyway.
        """
        before = self._witness
        if before is not None and before._version != self._version:
            self._writes = True
        self._witness = None
        if self._writes or not _ordinary(gradients):
            return False
        smallest = min(gradients, key=_numel)
        if smallest.numel() <= LARGEST_WITNESS:
            self._witness, self._version = smallest, smallest._version
        return before is not None

    def forget(self) -> None:
        """Let go of what is kept."""
        self._witness = None


def _numel(tensor: Any) -> int:
    return int(tensor.numel())


def _ordinary(gradients: Sequence[Any]) -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not gradients:
        return False
    plain, strided = torch.Tensor, torch.strided
    return all(type(each) is plain and each.is_cpu and each.layout is strided for each in gradients)
