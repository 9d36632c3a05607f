"""The one thread of a window: it calls what looks from time to time, and writes what was recorded."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns

from summarykit.notices import logger
from summarykit.profiler.cost import Cost


@dataclass
class Beat:
    """Something that is done every so many ns.

    Attributes:
        name: for the log.
        period: ns.
        work: what is done; it is called no more once it has raised.
        cost: meters it.
    """

    name: str
    period: int
    work: Callable[[], None]
    cost: Cost = field(default_factory=Cost)
    due: int = 0


class Ticker(threading.Thread):
    """Calls each beat when it is due. One that came late is not made up for."""

    def __init__(self, beats: list[Beat]) -> None:
        """Make the thread; ``start`` starts it."""
        super().__init__(name="summarykit-profiler", daemon=True)
        self._beats = beats
        self._ended = threading.Event()

    def run(self) -> None:
        """See ``threading.Thread``."""
        now = perf_counter_ns()
        for beat in self._beats:
            beat.due = now + beat.period
        while self._beats and not self._ended.wait(self._until_next()):
            now = perf_counter_ns()
            for beat in [one for one in self._beats if one.due <= now]:
                self._call(beat, now)

    def end(self, seconds: float = 5.0) -> None:
        """End the thread, and wait for it for a while."""
        self._ended.set()
        if self is not threading.current_thread() and self.ident is not None:
            self.join(seconds)

    def _until_next(self) -> float:
        return max(0, min(beat.due for beat in self._beats) - perf_counter_ns()) / 1e9

    def _call(self, beat: Beat, now: int) -> None:
        beat.due = max(beat.due + beat.period, now)
        try:
            beat.cost.run(beat.work)
        except Exception:  # noqa: BLE001 - a look that fails must not end the others, nor the training
            self._beats = [one for one in self._beats if one is not beat]
            logger.warning("profiler: %s failed and is off, the rest goes on: %s", beat.name, traceback.format_exc())
