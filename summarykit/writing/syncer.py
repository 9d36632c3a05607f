"""Brings written files to the disk, beside the pump: that takes milliseconds, on a slow disk seconds, and nobody should wait for it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

MOST_WAITING = 50
"""Syncs that may wait: each holds descriptors open. A job that closes records faster than its disk syncs does the oldest one itself."""


class Syncer:
    """Does one sync after the other, in a thread that lives only while there is one to do, or in one that has nothing else to do."""

    def __init__(self) -> None:
        self._syncs: deque[Callable[[], None]] = deque()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None

    def ask(self, sync: Callable[[], None], *, by_me: bool = False) -> None:
        """Do a sync in the background.

        Where ``by_me``, the calling thread will do it when it calls `carry_out`; and it is done here and now where no thread can be
        started any more (the interpreter is ending).
        """
        self._accept(sync, by_me)
        if len(self._syncs) > MOST_WAITING:
            self._syncs.popleft()()

    def _accept(self, sync: Callable[[], None], by_me: bool) -> None:
        with self._lock:
            self._syncs.append(sync)
            if self._thread is not None:
                return
            if by_me:
                self._thread = threading.current_thread()
                return
            thread = threading.Thread(target=self._run, name="summarykit-sync", daemon=True)
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:
                self._syncs.pop()()

    def carry_out(self) -> None:
        """Do what the calling thread took over, and what was asked for meanwhile."""
        if self._thread is threading.current_thread():
            self._run()

    def wait(self, seconds: float) -> None:
        """Wait for what was asked for, so many seconds at most."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout=seconds)

    def _run(self) -> None:
        while not self._finished():
            self._syncs.popleft()()

    def _finished(self) -> bool:
        with self._lock:
            if not self._syncs:
                self._thread = None
            return not self._syncs
