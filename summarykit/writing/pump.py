"""The one background thread of a process: it brings what writers hold to their files, ten times a second.

It is woken by the release of a plain lock, which is safe in signal handlers and finalisers, where an ``Event`` could dead-lock. What an
idle writer costs is decided here: a beat finds cold caches, so it should touch little.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol


class Served(Protocol):
    """What the pump serves."""

    @property
    def flush_secs(self) -> float:
        """Longest pause between two turns."""

    def work(self) -> bool:
        """One turn, which never raises; True where more is waiting."""


class Pump:
    """Serves writers until the last one leaves; started by the first."""

    def __init__(self, at_end: Callable[[], None]) -> None:
        """``at_end`` is the last that the thread calls."""
        self._at_end = at_end
        self._writers: tuple[Served, ...] = ()
        self._pause = 0.0
        self._bell = threading.Lock()    # free: ringing
        self._bell.acquire()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None

    def attend(self, writer: Served) -> bool:
        """Serve a writer from now on; False where no thread can be started any more (the interpreter is ending)."""
        with self._lock:
            if writer not in self._writers:
                self._serve((*self._writers, writer))
            if self._thread is not None:
                self.wake()    # it may have gone to sleep for longer than this one allows
                return True
            thread = threading.Thread(target=self._run, name="summarykit-pump", daemon=True)
            try:
                thread.start()    # one that an interrupt leaves behind here ends, since it is not this pump's
            except RuntimeError:
                return False
            self._thread = thread
        return True

    def dismiss(self, writer: Served) -> bool:
        """Serve a writer no longer. With the last one the thread ends; True where that is the calling one: it serves nobody from now on."""
        with self._lock:
            self._serve(tuple(each for each in self._writers if each is not writer))
            ending = not self._writers and self._thread is threading.current_thread()
            if ending:
                self._thread = None
        if self._thread is not None:
            self.wake()
        return ending

    def wait(self, seconds: float) -> None:
        """Wait for the thread after its last writer has left, so many seconds at most."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout=seconds)

    def wake(self) -> None:
        """Come at once."""
        with suppress(RuntimeError):    # it rings already
            self._bell.release()

    def _serve(self, writers: tuple[Served, ...]) -> None:
        self._writers, self._pause = writers, min((writer.flush_secs for writer in writers), default=0.0)

    def _run(self) -> None:
        me, busy = threading.current_thread(), False
        while self._serves(me):
            if not busy:
                self._bell.acquire(timeout=self._pause)
            turns = [writer.work() for writer in self._writers]    # each gets one, so no generator here
            busy = any(turns)
        self._at_end()

    def _serves(self, me: threading.Thread) -> bool:
        if self._thread is me and self._writers:
            return True
        with self._lock:
            if self._thread is me and not self._writers:
                self._thread = None
            return self._thread is me
