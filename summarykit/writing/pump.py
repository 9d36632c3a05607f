"""The one background thread of a process: it brings what writers hold to their files, ten times a second.

A signal handler may open, flush and close records while it interrupts any line of this, so nobody waits for a lock here: writers come and
go by single operations on a dict, and the thread is woken by the release of a plain lock, where an ``Event`` could dead-lock. What an idle
writer costs is decided here: a beat finds cold caches, so it should touch little.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol


class Served(Protocol):
    """What the pump serves."""

    @property
    def flush_secs(self) -> float:
        """Longest pause between two turns."""

    @property
    def ended(self) -> bool:
        """Whether it needs no more turns."""

    def work(self) -> bool:
        """One turn, which never raises; True where more is waiting."""


class Pump:
    """Serves writers until the last one leaves; started by the first.

    The thread that serves holds the seat. One that finds it taken ends, so that whoever misses the thread may start another.
    """

    def __init__(self, at_end: Callable[[], None]) -> None:
        """``at_end`` is the last that the thread calls."""
        self._at_end = at_end
        self._writers: dict[Served, None] = {}    # in the order in which they came
        self._bell = threading.Lock()    # free: ringing
        self._bell.acquire()
        self._seat = threading.Lock()
        self._thread: threading.Thread | None = None    # that holds the seat

    def attend(self, writer: Served) -> bool:
        """Serve a writer from now on; False where no thread can be started any more (the interpreter is ending)."""
        self._writers[writer] = None
        return self.call()

    def call(self) -> bool:
        """Come at once, in a new thread where there is none; False where none can be started any more."""
        self.wake()
        if self._seat.locked() or not self._writers:
            return True
        try:
            threading.Thread(target=self._run, name="summarykit-pump", daemon=True).start()
        except RuntimeError:
            return False
        return True

    def dismiss(self, writer: Served) -> bool:
        """Serve a writer no longer. With the last one the thread ends; True where that is the calling one: it serves nobody from now on."""
        self._writers.pop(writer, None)
        if self._writers or self._thread is not threading.current_thread():
            self.wake()
            return False
        self._leave()
        return True

    def wait(self, seconds: float) -> None:
        """Wait for the thread after its last writer has left, so many seconds at most."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout=seconds)

    def wake(self) -> None:
        """Come at once."""
        try:    # each step that records arrays comes here, with cold caches: no context manager
            self._bell.release()
        except RuntimeError:
            return    # it rings already

    def _run(self) -> None:
        if not self._seat.acquire(blocking=False):
            return
        me = self._thread = threading.current_thread()
        busy = False
        try:
            while self._thread is me and self._writers:
                if not busy:
                    self._bell.acquire(timeout=min((writer.flush_secs for writer in list(self._writers)), default=0.0))
                busy = self._serve(list(self._writers))
        finally:
            if self._thread is me:
                self._leave()
        self._at_end()

    def _serve(self, writers: list[Served]) -> bool:
        """A turn for each; True where one has more to do."""
        turns = [writer.work() for writer in writers]    # each gets one, so no generator here
        for writer in writers:
            if writer.ended:    # in a signal handler, say, before the call that it interrupted brought it here
                self._writers.pop(writer, None)
        return any(turns)

    def _leave(self) -> None:
        self._thread = None
        self._seat.release()
        self.call()    # for one who has come since, and has seen the seat taken
