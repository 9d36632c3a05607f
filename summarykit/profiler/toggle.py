"""What callbacks that profile a stretch of the training have in common."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from summarykit.notices import logger
from summarykit.profiler.profiler import Profiler
from summarykit.profiler.ranges import Ranges
from summarykit.training.callback import Callback


class Toggle(Callback):
    """What they have in common: ranges, whose profiler it is, and that it is always stopped.

    Attributes:
        ranges: first and last step (or epoch) of each window.
        profiler: what records.
        report: where it has a profiler of its own, the last window's report, after the training.
    """

    unit: str
    fail_safe = True

    def __init__(self, found: Ranges, profiler: Profiler | None) -> None:
        """Take the ranges, checked; see ``StopAtStep``."""
        self.ranges = found
        if profiler is not None and not isinstance(profiler, Profiler):
            raise TypeError(f"profiler: a Profiler or None is needed, got {profiler!r}")
        if profiler is not None and profiler.scheduled:
            raise ValueError("profiler: one without a schedule is needed: the callback itself says when to record")
        self._owner = profiler is None
        self.report: Any = None
        self.profiler = Profiler(start_profile=False) if profiler is None else profiler
        self._depth = 0
        self._mine = False
        self._opened: set[tuple[int, int]] = set()
        self._last = 0

    def __enter__(self) -> Toggle:
        self._depth += 1
        if self._depth == 1:
            self._opened, self._last = set(), 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop, whatever ended the training; an evaluation within it changes nothing."""
        self._depth -= 1
        if self._depth == 0:
            self._close()
            self._say_unreached()
            if self._owner and self._opened:
                self.report = self.profiler.analyse()
                logger.info("%s: %s", type(self).__name__, self.report)

    def __getstate__(self) -> dict[str, Any]:
        """A copy is in no training, and has no window open: its profiler has none."""
        return {**vars(self), "_depth": 0, "_mine": False}

    def _open_for(self, first: int, last: int) -> None:
        """Open a window where one of these steps (or epochs) is in a range."""
        for start, stop in self.ranges:
            if start <= last and first <= stop and (start, stop) not in self._opened:
                self._opened.add((start, stop))
                if self.profiler.recording:
                    logger.warning("%s: the profiler records already: this window is part of that", type(self).__name__)
                else:
                    self._mine = self._open()

    def _open(self) -> bool:
        self.profiler.told = True
        try:
            self.profiler.start()
        finally:
            self.profiler.told = False
        return self.profiler.recording

    def _close(self) -> None:
        if not self._mine:
            return
        self._mine = False
        self.profiler.stop()
        if not self.profiler.windows[-1].steps.count:
            logger.warning("%s: the training ended right before the window: 0 steps were recorded", type(self).__name__)

    def _ended(self, number: int) -> None:
        """A step (or epoch) has ended: close the window unless the coming one is in its range, too."""
        self._last = max(self._last, number)
        if not any(start <= number + 1 <= stop for start, stop in self._opened):
            self._close()

    def _reached(self) -> int:
        """The last step or epoch of the training."""
        return self._last

    def _say_unreached(self) -> None:
        for start, stop in self.ranges:
            if (start, stop) not in self._opened:
                told = type(self).__name__, start, stop, self.unit, self._reached(), self.unit
                logger.warning("%s(%d, %d): the training ended at %s %d: 0 %ss were recorded", *told)
