"""Rows of the timeline of this process: its threads, and what collectors add (a worker process, a queue)."""

from __future__ import annotations

import os
import threading

import numpy as np

from summarykit.shapes import Array


class Lanes:
    """Numbers threads in the order in which they are met.

    Attributes:
        entries: process, thread and title of each; only ever appended to.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, str]] = []
        self._numbers: dict[int, int] = {}

    def of(self, threads: Array) -> Array:
        """The lanes of threads.

        Args:
            threads: int64, ``threading.get_ident()``.
        """
        lanes = np.full(len(threads), -1)
        while len(lanes) and lanes.min() < 0:    # threads are few: this is several times as fast as sorting the rows
            ident = threads[lanes.argmin()]
            lanes[threads == ident] = self._number(int(ident))
        return lanes

    def _number(self, ident: int) -> int:
        if ident not in self._numbers:
            thread = next((one for one in threading.enumerate() if one.ident == ident), None)
            title, native = ("thread", ident) if thread is None else (thread.name, thread.native_id or ident)
            self.entries.append((os.getpid(), native, title))
            self._numbers[ident] = len(self.entries) - 1
        return self._numbers[ident]
