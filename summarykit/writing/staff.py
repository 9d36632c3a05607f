"""Workers as the pump sees them: it gives them tasks, whose arrays lie in memory that they read, and settles these with them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from summarykit.kinds.memory import LEAST_LENT
from summarykit.shapes import Array
from summarykit.writing.hired import Hired
from summarykit.writing.job import Task
from summarykit.writing.messages import Place, pack
from summarykit.writing.rings import Rings


class Staff:
    """The workers that there are. Who hires them, listens to them and buries them waits on ``_wake``, and holds ``_lock`` for each change.

    Attributes:
        rings: the memory that they read.
        short: a task was refused for want of room in a ring.
    """

    def __init__(self, say: Callable[..., None]) -> None:
        """Begin with nobody; ``say`` warns once by key."""
        self.rings = Rings(lambda: self._hired, say)
        self.short = False
        self._hired: list[Hired] = []
        self._lock = threading.RLock()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def offer(self, number: int, task: Task, *, now: bool) -> bool:
        """Give a task to a worker; False where there is none, or it cannot be given away.

        Args:
            number: its place among all tasks.
            task: what to do.
            now: False where it is done here, and a worker shall only know of it in case this process dies.
        """
        with self._lock:
            free = [each for each in self._hired if each.ready]
            if not free:
                return False
            memory: list[Array] = []
            try:
                order = pack(number, task, partial(self._locate, memory=memory, copy=now), now=now)
            except Exception:  # noqa: BLE001  such as a value on a device, or a class of the user's own
                return False
            min(free, key=lambda each: each.load).order(order, task, (task, memory))
            return True

    def post(self) -> None:
        """Send what was offered and settled."""
        with self._lock:
            for each in self._hired:
                if each.ready:
                    each.post()
            if any(each.channel.waiting for each in self._hired) or self.rings.too_small() or self.rings.cold:
                self.wake()

    def settle(self, before: int) -> None:
        """All tasks of lower numbers are in the file."""
        with self._lock:
            for each in self._hired:
                each.settle(before)
        self.post()

    def wake(self) -> None:
        """Let the thread look after everything at once."""
        with self._lock, suppress(OSError):
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    def _locate(self, data: Array, memory: list[Array], *, copy: bool) -> Place | None:
        """Where an array lies in a ring; a large one that does not is copied there, a small one travels in the message."""
        if data.nbytes < LEAST_LENT:
            return None
        place = self.rings.locate(data)
        if place is not None:
            return place
        lent = self.rings.copy(data) if copy else None
        if lent is None:
            self.short = copy
            raise BufferError("no room in the ring")
        memory.append(lent)
        return self.rings.locate(lent)
