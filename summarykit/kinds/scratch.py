"""Memory for intermediate results, one piece a thread: fresh memory would cost more than the work (page faults)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.shapes import Array

LINE = 64
"""Bytes of a cache line."""


class _Room(np.ndarray[Any, Any]):
    """Of a type of its own: the base of what views an array in it is that array, and not this, which would let go of it."""


class Scratch(threading.local):
    """One buffer a thread, as large as the largest use of it so far."""

    def __init__(self) -> None:
        self._room, self._start = _Room(0, np.uint8), 0
        self._lent: Callable[[], Array | None] = lambda: None

    def take(self, nbytes: int) -> Array:
        """Give that many bytes, with any content, from the start of a cache line: SIMD that crosses lines takes up to 1.4 times as long.

        They are the same each time, unless somebody still has them, whom a signal handler interrupted.
        """
        if self._lent() is not None:
            return np.empty(nbytes, np.uint8)
        if self._room.size < nbytes + LINE:
            self._room = _Room(nbytes + LINE, np.uint8)
            self._start = -self._room.ctypes.data % LINE
        lent: Array = np.ndarray((nbytes,), np.uint8, self._room, self._start)
        self._lent = weakref.ref(lent)    # a view keeps it alive
        return lent

    def rows(self, number: int, size: int) -> Array:
        """Give so many rows of ``size`` bytes, each rounded up to whole cache lines."""
        padded = -(-size // LINE) * LINE
        return self.take(number * padded).reshape(number, padded)


SCRATCH = Scratch()
"""This thread's."""
