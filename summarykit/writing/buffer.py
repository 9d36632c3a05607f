"""Between the training thread and the pump: two lists. One C call puts, two take; no lock, no signal, no process check."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from summarykit.kinds.fence import FENCE
from summarykit.writing.flat import WIDTH
from summarykit.writing.job import Batch, Job

SLICE = 16_384
"""Values that the pump takes at once: a slice is encoded in a few milliseconds."""

WAKE_AT = 16_384
"""Scalars waiting that make the pump come early."""

FULL_AT = 131_072
"""Scalars waiting at which ``on_full`` applies: about 8 MB of lists and Python floats."""

FULL_BYTES = 256 * 2**20
"""Bytes of arrays waiting, or being worked on, at which ``on_full`` applies."""

WAKE_BYTES = 4 * 2**20
"""Bytes of arrays handed over at once that make the pump come early: so much work should not begin late."""

LONGEST_WAIT = 0.5
"""Seconds that one call waits at most when the buffer is full, as long as the machine lets this process run."""

_LEAST_BYTES = FULL_BYTES // FULL_AT    # that any other value counts for: there may be as many of the smallest as scalars


class Position(NamedTuple):
    """So many items of the flat list, and so many batches, since the beginning."""

    items: int
    batches: int


class Buffer:
    """Scalars, and batches of other values, on their way to the pump.

    ``mark`` is all that the hot path looks at: the length of ``flat`` beyond which ``room`` must be asked. It is -1 as long as no pump
    serves this buffer, so that the first value (after construction, or after a fork) starts one; and where ``eager`` is set it stays so.

    Attributes:
        flat: the scalars, as ``writing.flat`` has them. Whoever appends asks ``room`` first where it is longer than ``mark``.
        batches: values that must be worked on before they can be written.
        mark: that length.
        eager: every scalar is to go through ``room``.
        taken: what the pump has taken.
    """

    def __init__(self, on_full: str, attend: Callable[[], None], wake: Callable[[], None]) -> None:
        """Make an empty buffer.

        Args:
            on_full: ``"block"`` or ``"drop"``.
            attend: starts the pump if need be.
            wake: makes the pump come at once.
        """
        self.flat: list[Any] = []
        self.mark = -1
        self.eager = False
        self.taken = Position(0, 0)
        self.batches: list[Batch] = []
        self._attend = attend
        self._wake = wake
        self._patience = LONGEST_WAIT if on_full == "block" else 0.0
        self._choked = False
        self._stuck_at: Position | None = None    # `taken` when a wait for room was in vain
        self._reserved = self._released = 0    # bytes since the beginning; the latter by the pump alone, which so waits for no lock
        self._lock = threading.RLock()

    def put(self, flat: Sequence[Any], batches: Sequence[Batch] = ()) -> bool:
        """Hand over scalars and batches; False where all were dropped because the buffer is full."""
        if len(self.flat) > self.mark and not self.room():
            return False
        nbytes = sum([size if size > _LEAST_BYTES else _LEAST_BYTES for batch in batches for size in batch.sizes])
        if nbytes and not self._reserve(nbytes):
            return False
        self.flat.extend(flat)
        self.batches.extend(batches)
        if nbytes >= WAKE_BYTES or (nbytes and FENCE.waiting):    # those copies are to be made beside the next forward pass
            self._wake()
        return True

    def room(self) -> bool:
        """Beyond the mark: start or wake the pump, wait for it where it is far behind, and set the next mark; False: it is full."""
        if self.mark < 0:
            self._attend()
        if self.taken == self._stuck_at:
            return False
        waiting = len(self.flat)
        if waiting >= WIDTH * WAKE_AT:
            self._wake()
        if waiting >= WIDTH * FULL_AT:
            return self._wait_for_pump()
        self._choked = False
        self._set_mark(WAKE_AT if waiting < WIDTH * WAKE_AT else FULL_AT)
        return True

    def take(self) -> tuple[list[Any], list[Batch]]:
        """The oldest scalars, and the oldest batches: at most ``SLICE`` values of each, or one batch."""
        counts = accumulate([len(batch.sizes) for batch in self.batches[:SLICE]])
        fitting = len([*takewhile(SLICE.__ge__, counts)])
        flat, batches = self.flat[: WIDTH * SLICE], self.batches[: max(1, fitting)]
        del self.flat[: len(flat)], self.batches[: len(batches)]
        self.taken = Position(self.taken.items + len(flat), self.taken.batches + len(batches))
        if flat:
            self._set_mark(WAKE_AT)
        return flat, batches

    def end(self) -> Position:
        """Where the buffer ends at present."""
        return Position(self.taken.items + len(self.flat), self.taken.batches + len(self.batches))

    def passed(self, position: Position) -> bool:
        """Whether all before a position was taken."""
        return self.taken.items >= position.items and self.taken.batches >= position.batches

    def release(self, job: Job) -> None:
        """A task is done with: for the thread whose turn it is."""
        self._released += max(job.nbytes, _LEAST_BYTES)

    def crowded(self) -> bool:
        """Whether so much is waiting that the pump should not pause."""
        return len(self) >= WAKE_AT

    def oldest(self) -> float | None:
        """Wall time of the oldest value waiting, in seconds since the epoch."""
        times = [*self.flat[WIDTH - 1 : WIDTH], *(batch.wall_time for batch in self.batches[:1])]
        return min(times, default=None)

    def __len__(self) -> int:
        """Number of values waiting."""
        return count(self.flat, self.batches)

    def _set_mark(self, scalars: int) -> None:
        self.mark = -1 if self.eager else WIDTH * (scalars - 1)

    def _wait_for_pump(self) -> bool:
        taken = self.taken
        if self._wait(lambda: len(self.flat) <= WIDTH * FULL_AT // 2):
            return True
        self._stuck_at = taken
        return False

    def _reserve(self, nbytes: int) -> bool:
        with self._lock:
            if self._fits(nbytes):
                self._reserved += nbytes
                return True
        self._wake()
        return self._wait(lambda: self._fits(nbytes)) and self._reserve(nbytes)

    def _fits(self, nbytes: int) -> bool:
        held = self._reserved - self._released
        return not held or held + nbytes <= FULL_BYTES    # one value larger than the limit may pass alone

    def _wait(self, room: Callable[[], bool]) -> bool:
        """Wait for room, by short sleeps: a signal handler that records may interrupt this, and a lock would then never come free.

        These are counted, not the clock: while the process is stopped, or the machine lets nothing of it run, the pump can make no room.
        A second full wait in a row would only slow training: once one was in vain, what comes is dropped until there is room.
        """
        waited, patience = 0.0, 0.0 if self._choked else self._patience
        while not room():
            if waited >= patience:
                self._choked = True
                return False
            nap = 0.001 + waited / 16    # each takes the processor 25 µs: the more there are, the longer
            time.sleep(nap)
            waited += nap
        self._choked = False
        return True


def count(flat: Sequence[Any], batches: Sequence[Batch]) -> int:
    """Number of values."""
    return len(flat) // WIDTH + sum([len(batch.sizes) for batch in batches])
