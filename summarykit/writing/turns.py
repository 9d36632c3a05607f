"""Whose turn it is: one thread at a time brings values on their way, the pump's or one that cannot wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

_TURN_SECS = 1.0    # that one waits for the turn of another thread


class Turns:
    """Turns of one writer.

    Attributes:
        lock: held during a turn. Re-entrant: a signal handler may come here in the middle of one.
    """

    def __init__(self, turn: Callable[[], bool], say: Callable[..., None]) -> None:
        """``turn`` is one turn: True where more is waiting. ``say`` warns once by key."""
        self.lock = threading.RLock()
        self._turn = turn
        self._say = say
        self._inside = False
        self._pump_hangs = False

    def take(self) -> bool:
        """One turn, which never raises; True where more is waiting."""
        if not self.lock.acquire(timeout=_TURN_SECS):
            return False    # at the end of the process, a pump that hangs in a system call
        return self._take(self._turn)

    def take_free(self, turn: Callable[[], bool]) -> bool:
        """A turn of another sort, where it is nobody's; True where more is waiting, or where it is somebody's."""
        return not self.lock.acquire(blocking=False) or self._take(turn)

    def _take(self, turn: Callable[[], bool]) -> bool:
        try:
            self._inside = True
            return turn()
        except Exception as error:  # noqa: BLE001  the pump serves all writers and outlives any fault of one
            self._say(("turn", type(error)), "internal error, please report it: %r", error)
            return False
        finally:
            self._inside = False
            self.lock.release()

    def take_all(self) -> bool:
        """Turn until nothing is left; False where another turn is not over.

        Either a signal handler interrupted it, and it goes on when that is done; or the pump hangs in a system call.
        """
        self._pump_hangs = not self.lock.acquire(timeout=0.0 if self._pump_hangs else _TURN_SECS)
        if self._pump_hangs:
            return False
        try:
            while not self._inside and self.take():
                continue
            return not self._inside
        finally:
            self.lock.release()
