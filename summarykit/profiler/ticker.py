"""The one thread of a window: it calls what looks from time to time, and writes what was recorded."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from time import perf_counter_ns, thread_time_ns

from summarykit.notices import logger
from summarykit.profiler.cost import Cost

_SHORT = 20_000_000
_due = attrgetter("due")


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
        self._ended = False
        self._until_end = threading.Lock()
        self._until_end.acquire()

    def run(self) -> None:
        """See ``threading.Thread``."""
        now = perf_counter_ns()
        for beat in self._beats:
            beat.due = now + beat.period
        while self._beats:
            beat = min(self._beats, key=_due)
            self._rest(beat.due - perf_counter_ns())
            if self._ended:
                return
            self._call(beat)

    def end(self, seconds: float = 5.0) -> bool:
        """End the thread, and wait for it for a while; False where it does not come back: a disk may hang."""
        self._ended = True
        if self._until_end.locked():
            self._until_end.release()
        if self is threading.current_thread():
            return True
        self.join(seconds)
        return not self.is_alive()

    def drop(self, beat: Beat) -> None:
        """Call this no more."""
        self._beats = [one for one in self._beats if one is not beat]

    def keep_only(self, beat: Beat) -> None:
        """Call nothing but this any more."""
        self._beats = [beat]

    def _rest(self, nanoseconds: int) -> None:
        """A plain sleep takes half the processor time of a wait that can be ended, which counts at a hundred a second."""
        if nanoseconds > _SHORT:
            self._until_end.acquire(timeout=nanoseconds / 1e9)
        elif nanoseconds > 0:
            time.sleep(nanoseconds / 1e9)

    def _call(self, beat: Beat) -> None:
        begun = thread_time_ns()
        try:
            beat.work()
        except Exception:  # noqa: BLE001 - a look that fails must not end the others, nor the training
            self.drop(beat)
            logger.warning("profiler: %s failed and is off, the rest goes on: %s", beat.name, traceback.format_exc())
        beat.cost.ns += thread_time_ns() - begun
        beat.cost.calls += 1
        beat.due = max(beat.due + beat.period, perf_counter_ns())
