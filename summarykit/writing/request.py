"""Somebody waits until what was recorded so far is in the file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from summarykit.writing.buffer import Position

_LOOK_SECS = 0.25    # between two looks for progress

class Request:
    """A wish to the pump. The wait is a C call, so it may run in a signal handler, and an interrupt leaves nothing half done."""

    def __init__(self, *, sync: bool, closing: bool = False) -> None:
        """Ask to flush; then to ``sync`` to the disk, and to close the files."""
        self.sync = sync
        self.closing = closing
        self.position: Position | None = None
        self.ticket: int | None = None
        self.succeeded = False
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self, succeeded: bool) -> None:
        """Let the waiting one go on."""
        self.succeeded = succeeded
        self._done.release()

    def wait(self, patience: float, progress: Callable[[], object]) -> bool:
        """Wait as long as there is progress, and ``patience`` seconds without; True where everything is in the file."""
        seen, end = progress(), time.monotonic() + patience
        while not self._done.acquire(timeout=max(0.0, min(_LOOK_SECS, end - time.monotonic()))):
            now = progress()
            if now != seen:
                seen, end = now, time.monotonic() + patience
            elif time.monotonic() >= end:
                return False
        self._done.release()
        return self.succeeded

    def wait_until(self, end: float) -> bool:
        """Wait until a point of the monotonic clock at the latest."""
        return self.wait(max(0.0, end - time.monotonic()), lambda: None)
