"""Where the copies of frozen values lie: in memory of their own, unless whoever takes the snapshot lends a better place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.shapes import Array

Lender = Callable[[int], Array | None]
"""Gives so many bytes as a uint8 array, aligned for every dtype, or None; the memory goes back when that array and its views are gone."""


LEAST_LENT = 2**14
"""Bytes from which a lender is asked; a smaller value is copied as quickly as that."""


class Lending:
    """While its ``with`` block runs, values that this thread freezes are copied into the lender's memory, as far as it has some."""

    __slots__ = ("lender",)

    def __init__(self, lender: Lender | None) -> None:
        """``lender`` is asked once for each copy; None lends nothing."""
        self.lender = lender

    def __enter__(self) -> None:
        _here.lending = self

    def __exit__(self, *_: object) -> None:
        _here.lending = NOBODY


NOBODY = Lending(None)
"""Lends nothing."""


class _Here(threading.local):
    """Who lends memory to this thread now."""

    lending: Lending = NOBODY


_here = _Here()


def copied(data: Array, dtype: np.dtype[Any]) -> Array:
    """Copy an array, C-contiguous, to a dtype of the same width.

    What nobody lends comes from the allocator, which gives what was used before as long as it can. Fresh pages take up to ten times as
    long as the copy itself; huge ones a fifth of that, but where a virtual machine has given its free memory back to the host four times
    as much, in the training thread.
    """
    nbytes, lender = data.nbytes, _here.lending.lender
    room = None if lender is None or nbytes < LEAST_LENT else lender(nbytes)
    if room is None:
        return np.array(data, dtype, order="C")
    copy: Array = np.ndarray(data.shape, dtype, room)
    copy[...] = data
    return copy
