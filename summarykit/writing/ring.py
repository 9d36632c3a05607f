"""Memory that this process fills and its workers read: a ring of slots, given out and taken back in order.

A slot is free again when the array that was given out, and every view of it, is gone: whoever still computes on it, or has yet to write it
to a file, holds it by that alone. Nobody frees anything by hand, so nobody can do it twice or too early.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque

import numpy as np

from summarykit.shapes import Array
from summarykit.writing.mapped import Mapped, allocate

ALIGNMENT = 64
"""Every slot begins at a multiple of so many bytes: a line of the processor's cache, and enough for every dtype."""

_PIECE = 16 * 2**20    # bytes that are touched at a time: 10 ms where there are no huge pages, or more on a busy machine
_PAGE = 4096


class Slots:
    """Which parts of a memory of ``capacity`` bytes are taken. The oldest slot is taken back first; later ones wait for it."""

    def __init__(self, capacity: int) -> None:
        """Begin with everything free."""
        self.capacity = capacity
        self._taken: deque[tuple[weakref.ref[Array], int, int]] = deque()
        self._head = 0

    def place(self, nbytes: int) -> int | None:
        """Where the next slot of so many bytes could begin; None where there is no room."""
        while self._taken and self._taken[0][0]() is None:
            self._taken.popleft()
        if not self._taken:
            self._head = 0
            return 0 if nbytes <= self.capacity else None
        tail, head = self._taken[0][1], self._head
        if head <= tail:
            return head if nbytes <= tail - head else None
        if nbytes <= self.capacity - head:
            return head
        return 0 if nbytes <= tail else None

    def take(self, place: int, nbytes: int, owner: Array) -> None:
        """Take the slot at ``place`` for as long as ``owner`` lives."""
        end = -(-(place + nbytes) // ALIGNMENT) * ALIGNMENT
        self._taken.append((weakref.ref(owner), place, end))
        self._head = end

    def empty(self) -> bool:
        """Whether nothing is taken."""
        return all(owner() is None for owner, _, _ in self._taken.copy())


class Ring:
    """A memory file of the kernel's, mapped. It has no name in any directory, and is gone with the last process that maps it."""

    def __init__(self, capacity: int) -> None:
        """Make one of ``capacity`` bytes (rounded up to whole pages), all of it really there.

        Raises:
            OSError: the system does not give so much memory, or has no such files.
            MemoryError: it would take more than a quarter of what is free, and others might be killed for it.
        """
        if capacity > _free() // 4:
            raise MemoryError(f"{capacity} bytes are more than a quarter of the free memory")
        self.capacity = -(-capacity // _PAGE) * _PAGE
        self.fd = os.memfd_create("summarykit")
        try:
            allocate(self.fd, self.capacity)
            self._memory = Mapped(self.fd, self.capacity).memory
        except BaseException:
            os.close(self.fd)
            raise
        self._touched = 0
        self._slots = Slots(self.capacity)
        self._lock = threading.Lock()
        self._base = _address(np.frombuffer(self._memory, np.uint8))

    def populate(self) -> bool:
        """Touch the next pages, by reading: it may be in use already; True where none is left.

        The first touch costs several times the copy; none is left to that.
        """
        start, self._touched = self._touched, self._touched + _PIECE
        np.frombuffer(self._memory, np.uint8)[start : start + _PIECE : _PAGE].max()
        return self._touched >= self.capacity

    def allocate(self, nbytes: int, patience: float = 0.0) -> Array | None:
        """Lend so many bytes.

        Args:
            nbytes: how many.
            patience: seconds to wait for another thread that is just asking; it may be one that a signal handler interrupted.

        Returns:
            None where there is no room, or the other one did not come to an end.
        """
        if not self._lock.acquire(timeout=patience):
            return None
        try:
            place = self._slots.place(nbytes)
            if place is None:
                return None
            lent: Array = np.ndarray((nbytes,), np.uint8, self._memory, place)
            self._slots.take(place, nbytes, lent)
            return lent
        finally:
            self._lock.release()

    def locate(self, array: Array) -> int | None:
        """Where in the ring an array begins; None where it lies elsewhere."""
        place = _address(array) - self._base
        return place if 0 <= place < self.capacity else None

    def empty(self) -> bool:
        """Whether nothing of it is lent."""
        return self._slots.empty()

    def close(self) -> None:
        """Close the descriptor. The memory goes when the last array in it is gone."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _free() -> int:
    """Bytes that the system can still give."""
    with open("/proc/meminfo") as lines:
        found = next((line for line in lines if line.startswith("MemAvailable:")), "MemAvailable: 0 kB")
    return int(found.split()[1]) * 1024
