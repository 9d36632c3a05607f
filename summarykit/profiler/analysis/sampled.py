"""Where Python was in the thread that trains, looked at a hundred times a second."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.python_code import trains
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Array, Ints

_FOREIGN = re.compile(
    r".*[\\/](site-packages|dist-packages|lib[\\/]python3[.\d]*|summarykit[\\/](profiler|training|summary|collectors))[\\/]|<frozen"
)
"""Frames of libraries: what a user can change lies outside of them."""


class Samples:
    """The samples of one recording.

    Attributes:
        time: int64 ns, shape ``[n]``.
    """

    def __init__(self, recording: Recording) -> None:
        """Take those of the thread that trains."""
        found, stacks = recording.tables.get("samples", Table()), recording.tables.get("stacks", Table())
        chosen = np.flatnonzero(trains(recording, found["lane"])) if found.rows and stacks.rows else np.empty(0, np.int64)
        self.time: Ints = found["time"][chosen] if len(chosen) else chosen
        self._stack: Ints = found["stack"][chosen] if len(chosen) else chosen
        self._parent: Ints = stacks.get("parent", np.empty(0, np.int64))
        self._frame = [str(frame) for frame in stacks.get("frame", ())]

    def during(self, moments: Intervals) -> Array:
        """Which samples lie in these moments: bool, shape ``[n]``."""
        return moments.hold(self.time)

    def passing(self, pattern: re.Pattern[str]) -> Array:
        """Which samples have a frame, written ``function (file:line)``, that begins as the pattern says: bool, shape ``[n]``."""
        held = [pattern.match(frame) is not None for frame in self._frame]
        for stack, parent in enumerate(self._parent.tolist()):    # a caller's number is below that of what it calls
            held[stack] = held[stack] or (parent >= 0 and held[parent])
        return np.array(held, np.bool_)[self._stack]

    def line(self, chosen: Array) -> tuple[str, float]:
        """The line of the program itself that most of these samples are in, ``function (file:line)``, and their share; "" without any."""
        lines = Counter(self._own(stack) for stack in self._stack[chosen].tolist())
        (line, count), = lines.most_common(1) or [("", 0)]
        return (line, count / max(int(chosen.sum()), 1)) if line else ("", 0.0)

    def _own(self, stack: int) -> str:
        """The innermost frame that is no library's."""
        while stack >= 0 and _FOREIGN.match(self._frame[stack].partition(" (")[2]):
            stack = int(self._parent[stack])
        return self._frame[stack] if stack >= 0 else ""
