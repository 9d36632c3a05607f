"""Where the copies of frozen values lie: in memory of their own, unless whoever takes the snapshot lends a better place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.shapes import Array

Lender = Callable[[int], Array | None]
"""Gives so many bytes as a uint8 array, aligned for every dtype, or None; the memory goes back when that array and its views are gone."""


class _Here(threading.local):
    """Who lends memory to this thread now."""

    lender: Lender | None = None


_here = _Here()


class Lending:
    """While its ``with`` block runs, values that this thread freezes are copied into the lender's memory, as far as it has some."""

    def __init__(self, lender: Lender | None) -> None:
        """``lender`` is asked once for each copy; None lends nothing."""
        self._lender = lender

    def __enter__(self) -> None:
        _here.lender = self._lender

    def __exit__(self, *_: object) -> None:
        _here.lender = None


def current() -> Lending:
    """What this thread has been lent, to be used in another one."""
    return Lending(_here.lender)


def copied(data: Array, dtype: np.dtype[Any]) -> Array:
    """Copy an array, C-contiguous, to a dtype of the same width."""
    room = None if _here.lender is None else _here.lender(data.nbytes)
    if room is None:
        return np.array(data, dtype=dtype, order="C")
    copy = room.view(dtype).reshape(data.shape)
    np.copyto(copy, data)
    return copy
