"""Memory for intermediate results, one piece a thread: fresh memory would cost more than the work (page faults)."""

from __future__ import annotations

import threading

import numpy as np

from summarykit.shapes import Array

LINE = 64
"""Bytes of a cache line."""


class Scratch(threading.local):
    """One buffer a thread, as large as the largest use of it so far."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, nbytes: int) -> Array:
        """Give that many bytes, with any content, from the start of a cache line: SIMD that crosses lines takes up to 1.4 times as long."""
        if self._bytes.size < nbytes:
            room = np.empty(nbytes + LINE, np.uint8)
            self._bytes = room[-room.ctypes.data % LINE :]
        return self._bytes[:nbytes]

    def rows(self, number: int, size: int) -> Array:
        """Give so many rows of ``size`` bytes, each rounded up to whole cache lines."""
        padded = -(-size // LINE) * LINE
        return self.take(number * padded).reshape(number, padded)


SCRATCH = Scratch()
"""This thread's."""
