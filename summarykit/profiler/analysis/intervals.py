"""Sets of moments: sorted, disjoint stretches of time, with union, intersection and difference, all vectorised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from summarykit.shapes import Array, Ints


@dataclass(frozen=True, eq=False)
class Intervals:
    """A set of moments.

    Attributes:
        start: int64 nanoseconds, ascending.
        end: int64 nanoseconds, each after its start and before the next start.
    """

    start: Ints
    end: Ints

    @classmethod
    def union(cls, start: Ints, end: Ints) -> Intervals:
        """Every moment of stretches that may overlap and need no order; those without a length have none."""
        lasting = end > start
        if not lasting.all():
            start, end = start[lasting], end[lasting]
        if not len(start):
            return NEVER
        if not (start[1:] >= start[:-1]).all():    # what comes in order needs no memory for its order
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        first = np.append(True, start[1:] > reach[:-1])
        return cls(start[first], reach[np.append(first[1:], True)])

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """Its length in nanoseconds."""
        return int((self.end - self.start).sum())

    def __or__(self, other: Intervals) -> Intervals:
        return Intervals.union(np.append(self.start, other.start), np.append(self.end, other.end))

    def __and__(self, other: Intervals) -> Intervals:
        return self._where(other, 3)

    def __sub__(self, other: Intervals) -> Intervals:
        return self._where(other, 1)

    def within(self, start: Ints, end: Ints) -> Ints:
        """How much of each window is in the set: int64 nanoseconds; windows may overlap."""
        return self._until(end) - self._until(start)

    def hold(self, time: Ints) -> Array:
        """Which times lie in the set: bool, of the shape of ``time``."""
        place = np.searchsorted(self.start, time, side="right") - 1
        return (place >= 0) & (time < np.append(self.end, 0)[place])

    def gaps(self) -> Intervals:
        """What lies between the stretches."""
        return Intervals(self.end[:-1], self.start[1:])

    def _until(self, time: Ints) -> Ints:
        """Length of the set before each time."""
        if not len(self):
            return np.zeros(len(time), np.int64)
        place = np.searchsorted(self.start, time, side="right") - 1
        total = np.cumsum(self.end - self.start)
        return np.where(place < 0, 0, total[place] - np.maximum(self.end[place] - time, 0))

    def _where(self, other: Intervals, state: int) -> Intervals:
        """The moments of that state: 1 in this set only, 2 in the other only, 3 in both."""
        time = np.concatenate([self.start, self.end, other.start, other.end])
        change = np.repeat(np.array([1, -1, 2, -2], np.int8), [len(self), len(self), len(other), len(other)])
        order = np.argsort(time, kind="stable")
        now = np.cumsum(change[order], dtype=np.int8)    # millions of these are what an analysis needs its memory for
        time = time[order]
        del order, change
        held: Array = (now[:-1] == state) & (time[1:] > time[:-1])
        return Intervals.union(time[:-1][held], time[1:][held])


NEVER = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
Roles: TypeAlias = Mapping[str, Intervals] | Iterable[tuple[str, Intervals]]
"""Sets by name, the most important first; or pairs of name and set, of which only one need be there at a time."""


def shares(roles: Roles, start: Ints, end: Ints) -> dict[str, Ints]:
    """Split windows among roles, every moment to one of them: the first that has it.

    Args:
        roles: sets by name, see ``Roles``.
        start: int64 nanoseconds, shape ``[windows]``: where each window begins.
        end: where each ends.

    Returns:
        Nanoseconds of each role in each window, and ``"other"`` for what no role has.
    """
    taken, found = NEVER, {}
    for name, role in roles.items() if isinstance(roles, Mapping) else roles:
        found[name] = (role - taken).within(start, end)
        taken |= role
    return found | {"other": end - start - taken.within(start, end)}
