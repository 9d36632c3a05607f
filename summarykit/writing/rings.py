"""The memory that the workers of a crew read: one ring, larger ones as they are needed, and old ones until they are empty.

A new ring takes what the pump gives to workers from the moment it is made. The training thread copies into the old one until every page of
the new one was touched. So no value waits for a ring to grow in memory that only this process has, and no loop pays for fresh pages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from summarykit.shapes import Array
from summarykit.writing.hired import Hired
from summarykit.writing.messages import Place, Share, Withdraw
from summarykit.writing.ring import Ring

LEAST_RING = 16 * 2**20
"""Bytes of the smallest ring."""

LARGEST_RING = 256 * 2**20
"""Bytes of the largest ring: as much as the buffer lets wait."""

_PATIENCE = 0.1    # seconds that the pump waits for another thread that is just allocating


class Rings:
    """All but `allocate`, `fit`, `cold` and `warm_up` is for whoever holds the lock of the staff.

    Attributes:
        made: how many there have been.
        refused: the system gives no more.
    """

    def __init__(self, staff: Callable[[], list[Hired]], say: Callable[..., None]) -> None:
        """None is made yet. ``staff`` gives the workers that share them, ``say`` warns once by key."""
        self.made = 0
        self.refused = False
        self._staff = staff
        self._say = say
        self._wanted = LEAST_RING
        self._all: dict[int, Ring] = {}
        self._newest: Ring | None = None
        self._warm: Ring | None = None    # the newest whose pages were touched

    # --- for any thread

    def allocate(self, nbytes: int) -> Array | None:
        """Lend memory for a value to come."""
        warm = self._warm
        return None if warm is None else warm.allocate(nbytes)

    def fit(self, nbytes: int) -> None:
        """Wish for a ring large enough for about two steps, each of so many bytes."""
        self._wanted = max(self._wanted, min(LARGEST_RING, nbytes * 9 // 4))

    @property
    def cold(self) -> bool:
        """Whether the newest ring's pages were not touched yet."""
        return self._newest is not self._warm

    def warm_up(self) -> None:
        """Touch the next of them; after the last one values to come are copied there."""
        newest = self._newest
        if newest is not None and newest.populate():
            self._warm = newest

    # --- for whoever holds the lock

    def too_small(self) -> bool:
        """Whether a larger ring is wished for, and perhaps to be had."""
        return not self.refused and (self._newest is None or self._newest.capacity < self._wanted)

    def enlarge(self) -> None:
        """Make the ring that is wished for, and share it with the workers."""
        try:
            ring = Ring(self._wanted)
        except (OSError, MemoryError, ValueError) as error:
            self.refused = True
            self._say("ring", "no memory to share with worker processes (%s); what has no place is worked on in a thread", error)
            return
        self._all[ring.fd] = self._newest = ring
        self.made += 1
        for each in self._staff():
            each.tell(Share(ring.fd, ring.capacity), (ring.fd,))

    def share(self, newcomer: Hired) -> None:
        """Let a new worker see what the others see."""
        for number, ring in self._all.items():
            newcomer.tell(Share(number, ring.capacity), (number,))

    def retire(self) -> None:
        """Close rings that a larger one has replaced, once nothing in them is needed."""
        for number, ring in list(self._all.items()):
            if ring is not self._newest and ring is not self._warm and ring.empty():
                self._all.pop(number).close()
                for each in self._staff():
                    each.tell(Withdraw(number))
                    each.post()

    def locate(self, data: Array) -> Place | None:
        """Where an array lies in a ring; None where it lies elsewhere."""
        for number, ring in self._all.items():
            start = ring.locate(data)
            if start is not None:
                return Place(number, start, data.nbytes)
        return None

    def copy(self, data: Array) -> Array | None:
        """Copy a C-contiguous array into the newest ring, or a larger one where that is full; None where there is no memory for it."""
        lent = self._lend(data.nbytes)
        if lent is None and data.nbytes <= LARGEST_RING:
            self._grow(data.nbytes)
            lent = self._lend(data.nbytes)
        if lent is not None:
            np.copyto(lent, data.reshape(-1).view(np.uint8))
        return lent

    def close(self) -> None:
        """Close all. Their memory goes with the last arrays in it."""
        self._newest = self._warm = None
        for ring in self._all.values():
            ring.close()
        self._all.clear()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def _lend(self, nbytes: int) -> Array | None:
        return None if self._newest is None else self._newest.allocate(nbytes, _PATIENCE)

    def _grow(self, nbytes: int) -> None:
        """By a half at least: the workers are behind, or have got a larger step than any before."""
        capacity = 0 if self._newest is None else self._newest.capacity
        self._wanted = min(LARGEST_RING, max(self._wanted, capacity * 3 // 2, nbytes))
        if self.too_small():
            self.enlarge()
