"""Between the training thread and the pump: a list. One C call puts, two take; no lock, no signal, no process check."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from itertools import accumulate

from summarykit.writing.batch import Batch, size

SLICE = 16_384
"""Values that the pump takes at once: a slice is encoded in a few milliseconds."""

WAKE_AT = 16_384
"""Values waiting that make the pump come early."""

FULL_AT = 131_072
"""Values waiting at which ``on_full`` applies: about 12 MB of Python floats and dictionaries."""

FULL_BYTES = 256 * 2**20
"""Bytes of arrays waiting, or being worked on, at which ``on_full`` applies."""

LONGEST_WAIT = 0.5
"""Seconds that one call waits at most when the buffer is full."""


class Buffer:
    """Batches on their way to the pump.

    ``mark`` is all that the hot path looks at: a number of batches beyond which ``put`` takes the slow path. It is -1 as long as no pump
    serves this buffer, so that the first ``put`` (after construction, or after a fork) starts one.
    """

    def __init__(self, on_full: str, attend: Callable[[], None], wake: Callable[[], None]) -> None:
        """Make an empty buffer.

        Args:
            on_full: ``"block"`` or ``"drop"``.
            attend: starts the pump if need be.
            wake: makes the pump come at once.
        """
        self.mark = -1
        self.taken = 0
        self._batches: list[Batch] = []
        self._attend = attend
        self._wake = wake
        self._patience = LONGEST_WAIT if on_full == "block" else 0.0
        self._choked = False
        self._stuck_at = -1    # `taken` when a wait for room was in vain
        self._nbytes = 0
        self._lock = threading.RLock()

    def put(self, batch: Batch) -> bool:
        """Hand over a batch; False where it was dropped because the buffer is full."""
        if len(self._batches) > self.mark and not self._beyond_mark():
            return False
        if batch.jobs and not self._reserve(sum(job.nbytes for job in batch.jobs)):
            return False
        self._batches.append(batch)
        return True

    def take(self) -> list[Batch]:
        """The oldest batches, about ``SLICE`` values of them."""
        waiting = accumulate(map(size, self._batches))
        count = sum(1 for _ in itertools.takewhile(lambda total: total < SLICE, waiting)) + 1
        taken = self._batches[:count]
        del self._batches[: len(taken)]
        self.taken += len(taken)
        return taken

    def release(self, nbytes: int) -> None:
        """Arrays of so many bytes are done with."""
        with self._lock:
            self._nbytes -= nbytes

    def values(self) -> int:
        """Number of values waiting."""
        return sum(map(size, self._batches[:]))

    def crowded(self) -> bool:
        """Whether so much is waiting that the pump should not pause."""
        return len(self._batches) >= WAKE_AT or self.values() >= WAKE_AT

    def oldest(self) -> float | None:
        """Wall time of the oldest batch waiting, in seconds since the epoch."""
        first = self._batches[:1]
        return first[0].wall_time if first else None

    def __len__(self) -> int:
        return len(self._batches)

    def _beyond_mark(self) -> bool:
        """Start or wake the pump, wait for it where it is far behind, and set the next mark."""
        if self.mark < 0:
            self._attend()
        if self.taken == self._stuck_at:
            return False    # counting a hundred thousand batches anew would be no way to drop one at once
        waiting, batches = self.values(), max(1, len(self._batches))
        if waiting >= WAKE_AT:
            self._wake()
        if waiting >= FULL_AT:
            return self._wait_for_pump(batches * (FULL_AT // 2) // waiting)
        self._choked = False
        self.mark = int(min(batches * 2, FULL_AT / max(1.0, waiting / batches)))
        return True

    def _wait_for_pump(self, batches: int) -> bool:
        taken = self.taken
        if self._wait(lambda: len(self._batches) <= batches):
            return True
        self._stuck_at = taken
        return False

    def _reserve(self, nbytes: int) -> bool:
        with self._lock:
            if not self._nbytes or self._nbytes + nbytes <= FULL_BYTES:    # one value larger than the limit may pass alone
                self._nbytes += nbytes
                return True
        self._wake()
        return self._wait(lambda: not self._nbytes or self._nbytes + nbytes <= FULL_BYTES) and self._reserve(nbytes)

    def _wait(self, room: Callable[[], bool]) -> bool:
        """Wait for room, by short sleeps: a signal handler that records may interrupt this, and a lock would then never come free.

        A second full wait in a row would only slow training: once one was in vain, what comes is dropped until there is room.
        """
        end = time.monotonic() + (0.0 if self._choked else self._patience)
        while not room():
            if time.monotonic() >= end:
                self._choked = True
                return False
            time.sleep(0.001)
        self._choked = False
        return True
