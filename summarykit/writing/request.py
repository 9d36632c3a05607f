"""Somebody waits until what was recorded so far is in the file."""

from __future__ import annotations

import threading
from collections.abc import Callable

from summarykit.writing.buffer import Position

PATIENCE = 5.0
"""Seconds that one waits without seeing progress."""

_LOOK_SECS = 0.25    # between two looks for progress


class Request:
    """A wish to the pump. The wait is a C call, so it may run in a signal handler, and an interrupt leaves nothing half done.

    Attributes:
        position: what was put before it ends here; None until the pump has seen it.
        ticket: so many tasks were given to the executor before it; None until they were.
        succeeded: what came of it.
    """

    def __init__(self, action: Callable[[], bool]) -> None:
        """Ask for an action, once all that was put before is in the file. It tells whether it succeeded."""
        self.position: Position | None = None
        self.ticket: int | None = None
        self.succeeded = False
        self._action = action
        self._done = threading.Lock()
        self._done.acquire()

    def carry_out(self) -> None:
        """Do what is asked for, and let the waiting one go on."""
        succeeded = False
        try:
            succeeded = self._action()
        finally:
            self.finish(succeeded)

    def finish(self, succeeded: bool) -> None:
        """Let the waiting one go on."""
        self.succeeded = succeeded
        self._done.release()

    def wait(self, patience: float, progress: Callable[[], object]) -> bool:
        """Wait as long as there is progress, and ``patience`` seconds without; True where everything is in the file.

        Looks are counted, not the clock: while a process is stopped, or the machine lets nothing of it run, there is none to be seen.
        """
        seen, left = progress(), patience
        while not self._done.acquire(timeout=max(0.0, min(_LOOK_SECS, left))):
            now = progress()
            left = patience if now != seen else left - _LOOK_SECS
            if left <= 0:
                return False
            seen = now
        self._done.release()
        return self.succeeded
