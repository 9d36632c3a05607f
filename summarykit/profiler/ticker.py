"""The one thread of a window: it calls what looks from time to time, and writes what was recorded."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from time import perf_counter, sleep, thread_time_ns

from summarykit.notices import logger
from summarykit.profiler.cost import Cost

_SHORT = 0.02
_due = attrgetter("due")


@dataclass
class Beat:
    """Something that is done every so many ns.

    Attributes:
        name: for the log.
        period: ns.
        work: what is done; it is called no more once it has raised.
        cost: meters it, and the waking up for it.
        due: when the next one is, in seconds of ``perf_counter``.
    """

    name: str
    period: int
    work: Callable[[], None]
    cost: Cost = field(default_factory=Cost)
    due: float = 0.0


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
        now = perf_counter()
        for beat in self._beats:
            beat.due = now + beat.period / 1e9
        while self._beats and not self._ended:
            beat = min(self._beats, key=_due)
            self._meter(beat, min((one.due for one in self._beats if one is not beat), default=beat.due))

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

    def _meter(self, beat: Beat, until: float) -> None:
        begun = thread_time_ns()
        try:
            self._repeat(beat, until)
        except Exception:  # noqa: BLE001 - a look that fails must not end the others, nor the training
            self.drop(beat)
            logger.warning("profiler: %s failed and is off, the rest goes on: %s", beat.name, traceback.format_exc())
        beat.cost.ns += thread_time_ns() - begun

    def _repeat(self, beat: Beat, until: float) -> None:
        """Call a beat until another one is due.

        All that is done a hundred times a second is here and in the beat: a processor that has slept finds neither code nor data in its
        caches, so what counts is how many functions and objects are touched. For the same reason a plain sleep takes half the time of a
        wait that can be ended.
        """
        work, due, period, calls = beat.work, beat.due, beat.period / 1e9, 0
        try:
            while due <= until:
                rest = due - perf_counter()
                if rest > _SHORT:
                    self._until_end.acquire(timeout=rest)
                elif rest > 0:
                    sleep(rest)
                else:
                    due -= rest
                if self._ended:
                    return
                due += period
                calls += 1
                work()
        finally:
            beat.due = due
            beat.cost.calls += calls
