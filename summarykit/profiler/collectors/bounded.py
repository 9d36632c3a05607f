"""A framework's own trace, which keeps all in memory: it is ended after so many steps."""

from __future__ import annotations

from typing import Any, ClassVar

from summarykit.notices import logger
from summarykit.profiler.collectors.collector import Collector, Site
from summarykit.profiler.exclusive import claim, release

STEPS = 20
"""Steps that are traced at most."""


class BoundedTrace(Collector):
    """Begun with the window, ended after ``STEPS`` steps or with the window; one in a process at a time.

    Attributes:
        running: whether it is on.
        tried: whether it was begun, or could not be.
    """

    what: ClassVar[str]
    """Whose trace it is, for the log."""

    def __init__(self, site: Site) -> None:
        """See ``Collector``."""
        super().__init__(site)
        self.running = self.tried = False
        self._steps = 0
        self._why = ""

    def begin(self) -> None:
        """Begin the trace.

        Raises:
            RuntimeError: the program traces itself.
        """
        raise NotImplementedError

    def end(self) -> None:
        """End the trace, and have it written.

        Raises:
            RuntimeError, OSError: the program has ended it, or it cannot be written.
        """
        raise NotImplementedError

    def start(self) -> None:
        """See ``Collector``."""
        self.begin_trace()
        self.site.listeners.append(self)

    def begin_trace(self) -> None:
        """Begin the trace unless somebody else's is on; that is said."""
        self.tried = True
        if not claim(self.what, self):
            self._why = "another window traces"
            return
        try:
            with self.cost.starting(self.site.tape):
                self.begin()
            self.running = True
        except Exception as error:  # noqa: BLE001 - it reaches into frameworks, in the middle of a training
            self._why = str(error)
            logger.warning("profiler: no trace by %s: %s", self.what, error)
        finally:
            if not self.running:
                release(self.what, self)

    def step_begin(self, step: int) -> None:
        """See ``StepListener``."""

    def step_end(self, step: int) -> None:
        """See ``StepListener``."""
        if self.running:
            self._steps += 1
            if self._steps >= STEPS:
                self.finish_trace(f"{STEPS} steps are enough")

    def stop(self) -> None:
        """See ``Collector``."""
        if self in self.site.listeners:
            self.site.listeners.remove(self)
        self.finish_trace("the window ended")

    def finish_trace(self, why: str) -> None:
        """End the trace if it runs."""
        if self.running:
            self.running, self._why = False, why
            try:
                with self.cost.stopping(self.site.tape):
                    self.end()
            except Exception as error:  # noqa: BLE001 - it reaches into frameworks, in the middle of a training
                self._why = f"it failed: {error}"
            finally:
                release(self.what, self)

    def forget(self) -> None:
        """See ``Collector``."""
        self.running = False
        release(self.what, self)

    def described(self) -> dict[str, Any]:
        """See ``Collector``."""
        return {"steps": self._steps, "ended": self._why}
