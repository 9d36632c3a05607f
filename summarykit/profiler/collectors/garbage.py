"""Pauses of Python's garbage collector."""

from __future__ import annotations

import gc
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category

_NAMES = [NAMES.number(f"garbage collection, generation {generation}", Category.GC) for generation in range(3)]


class GarbageInstrument(Instrument):
    """A callback of ``gc``."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0

    def install(self) -> None:
        """See ``Instrument``."""
        gc.callbacks.append(self._told)

    def remove(self) -> None:
        """See ``Instrument``."""
        if self._told in gc.callbacks:
            gc.callbacks.remove(self._told)

    def _told(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._begun = perf_counter_ns()
        else:
            self.span((_NAMES[info["generation"]], get_ident(), self._begun, perf_counter_ns()))


class Garbage(Hooked):
    """A span of each collection: it stops every thread."""

    key = "gc"
    instrument = GarbageInstrument()
