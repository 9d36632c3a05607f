"""Opens and closes the windows of a profiler, and puts the methods of the open one in the profiler's place.

While no window is open a mark is a call of a shared function that does nothing: no branch, no thread, no allocation.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from summarykit.notices import Notices
from summarykit.profiler.plan import Plan
from summarykit.profiler.scheduling import Action
from summarykit.profiler.window import Window
from summarykit.training.marks import unwatched

_NOTHING = nullcontext()


def no_phase(name: str) -> AbstractContextManager[Any]:
    """What ``phase`` is while no window is open."""
    return _NOTHING


class Controller:
    """The windows of one profiler, one after the other.

    Attributes:
        step: ends a step, by hand.
        step_begin: for callbacks: a step begins.
        step_end: for callbacks: a step has ended.
        between: for callbacks: what was since the last step belongs to none.
        phase: makes a context manager that records a phase of a step.
        windows: all windows so far.
        told: whether whoever opens windows also tells of the steps in them.
    """

    def __init__(self, plan: Plan) -> None:
        """Take the plan; no window is open."""
        self.windows: list[Window] = []
        self.notices = Notices()
        self._plan = plan
        self.told = plan.schedule is not None
        self._count = self._due = 0
        self._lock = threading.RLock()
        self._off()

    step: Callable[..., None]
    step_begin: Callable[[int], None]
    step_end: Callable[[int], None]
    between: Callable[[], None]
    phase: Callable[[str], AbstractContextManager[Any]]

    @property
    def output_path(self) -> Path:
        """Where windows are written."""
        return self._plan.output_path

    @property
    def window(self) -> Window | None:
        """The open window."""
        return self.windows[-1] if self.windows and not self.windows[-1].closed else None

    @property
    def recording(self) -> bool:
        """Whether a window is open."""
        return self.window is not None

    @property
    def scheduled(self) -> bool:
        """Whether a schedule opens and closes the windows."""
        return self._plan.schedule is not None

    @property
    def paths(self) -> list[Path]:
        """The directories of all windows."""
        return [window.directory for window in self.windows]

    def open(self, warming: bool = False) -> bool:
        """Open a window; where its files cannot be made that is said, and nothing is recorded. True where one is open."""
        with self._lock:
            try:
                window = Window(self._plan, self.told, warming)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                self.notices.once(reason, "profiler: nothing is recorded: %s: %s", self._plan.output_path, reason)
                return False
            self.windows.append(window)
            _open.add(self)
            steps = window.steps
            self.step, self.step_begin, self.step_end, self.between = steps.step, steps.begin, steps.end, steps.between
            self.phase = window.phase
            return True

    def close(self, why: str) -> None:
        """Close the open window."""
        with self._lock:
            window = self.window
            self._off()
            _open.discard(self)
            if window is not None:
                window.close(why)

    def arm(self) -> None:
        """Follow the schedule from here on: ``step`` opens and closes windows."""
        self._count = 0
        self._follow()

    def forget(self) -> None:
        """In a forked child: what is open is the parent's."""
        self._lock = threading.RLock()
        window = self.window
        self._off()
        if window is not None:
            window.forget()
        self.windows = []

    def _off(self) -> None:
        self.step = self.step_begin = self.step_end = self.between = unwatched
        self.phase = no_phase

    def _scheduled(self, step: int | None = None) -> None:
        """What ``step`` is under a schedule."""
        self._count += 1
        number = self._count if step is None else step
        due = self._count >= self._due
        if window := self.window:
            window.steps.step(number, more=not due)
        if due:
            self._follow(number)

    def _waiting(self, step: int | None = None) -> None:
        """What ``step`` is while a schedule waits."""
        self._count += 1
        if self._count >= self._due:
            self._follow(self._count if step is None else step)

    def _follow(self, number: int = 0) -> None:
        """Do what the schedule says of the coming step."""
        schedule = self._plan.schedule
        assert schedule is not None
        action = schedule(self._count)
        window = self.window
        if window and action is Action.RECORD and window.warming:
            window.keep()
        elif window:
            self.close("schedule")
            window = None
        if window is None and action is not Action.NONE:
            self.open(action is Action.WARMUP)
        if window := self.window:
            window.steps.begin(number + 1)
        self._due = schedule.until(self._count)
        self.step = self._waiting if action is Action.NONE else self._scheduled


_open: set[Controller] = set()
"""Those with an open window: also one that its user has let go of must be closed in the end."""


@atexit.register
def _end_all() -> None:
    for controller in list(_open):
        controller.close("the program ended")


def _forget_all() -> None:
    for controller in list(_open):
        controller.forget()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
