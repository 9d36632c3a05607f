"""Who called whom: in each lane a span lies within another that began before it and has not ended."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.recording import Spans
from summarykit.shapes import Array, Ints


class Nesting:
    """Depth, caller and own time of spans.

    Attributes:
        depth: int64, shape ``[n]``: 0 for the outermost of a lane.
        above: int64, shape ``[n]``: place in ``chosen`` of the span around it; -1 where there is none.
        self_time: int64 nanoseconds: the duration without that of the spans right within.
    """

    def __init__(self, spans: Spans, chosen: Array) -> None:
        """Nest spans.

        Args:
            spans: all spans.
            chosen: int64 indexes of those that count; everything here is in their order.
        """
        self._scale = _Scale(spans, chosen)
        self._order, self._start, self._end = _sorted(spans, chosen, self._scale)
        depth = _depth(self._start, self._end)
        self._parent = parent = _parent(depth, self._start, self._end)
        inner = np.zeros(len(chosen), np.int64)
        child = np.flatnonzero(parent >= 0)
        np.add.at(inner, parent[child], np.minimum(self._end[child], self._end[parent[child]]) - self._start[child])
        self.depth = self._unsorted(depth)
        self.above = self._unsorted(np.where(parent >= 0, self._order[parent], -1))
        self.self_time = self._unsorted(np.maximum(spans.duration[chosen][self._order] - inner, 0))

    def around(self, lane: Array, time: Ints) -> Ints:
        """Place in ``chosen`` of the innermost span of a lane that is open at a time, for each of them; -1 where there is none."""
        if not len(self._start):
            return np.full(len(time), -1)
        moment, known = self._scale.moments(lane, time), self._scale.has(time)
        place = np.where(known, np.searchsorted(self._start, moment, side="right") - 1, -1)
        while len(left := np.flatnonzero((place >= 0) & (self._end[place] <= moment))):
            place[left] = self._parent[place[left]]
        return np.where(place >= 0, self._order[place], -1)

    def _unsorted(self, column: Ints) -> Ints:
        found = np.empty_like(column)
        found[self._order] = column
        return found


class _Scale:
    """One axis on which the lanes lie one behind the other."""

    def __init__(self, spans: Spans, chosen: Array) -> None:
        start = spans.start[chosen]
        self._base = int(start.min()) if len(start) else 0
        self._width = int((start + np.maximum(spans.duration[chosen], 1)).max()) - self._base + 1 if len(start) else 0

    def moments(self, lane: Array, time: Ints) -> Ints:
        """One number for lane and time, that ascends within each lane."""
        return time - self._base + lane.astype(np.int64) * self._width

    def has(self, time: Ints) -> Array:
        """Which of the times lie in it."""
        return (time >= self._base) & (time < self._base + self._width)


def outermost(key: Array, above: Ints) -> Array:
    """Which spans lie in none of the same key: what calls itself is to be counted once.

    Args:
        key: shape ``[n]``.
        above: of a ``Nesting``.
    """
    inside, around = np.zeros(len(key), np.bool_), above.copy()
    while len(there := np.flatnonzero(around >= 0)):
        inside[there] |= key[around[there]] == key[there]
        around[there] = above[around[there]]
    return ~inside


def _sorted(spans: Spans, chosen: Array, scale: _Scale) -> tuple[Ints, Ints, Ints]:
    """The order by lane and start, what is longer first, and start and end on the scale, in that order.

    What has no length is given one: it is open where it begins.
    """
    start, length = scale.moments(spans.lane[chosen], spans.start[chosen]), np.maximum(spans.duration[chosen], 1)
    order = np.lexsort((-length, start))
    start = start[order]
    return order, start, start + length[order]


def _depth(start: Ints, end: Ints) -> Ints:
    """How many spans are open where each begins: those begun before it less those that have ended."""
    ended = np.searchsorted(np.sort(end), start, side="right")
    return np.maximum(np.arange(len(start)) - ended, 0)


def _parent(depth: Ints, start: Ints, end: Ints) -> Ints:
    """The last span before it that is one level up, level by level, if it is open still."""
    parent = np.full(len(depth), -1)
    levels = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[levels], np.arange(int(depth.max(initial=0)) + 2))
    for level in range(1, len(edges) - 1):
        above, here = levels[edges[level - 1] : edges[level]], levels[edges[level] : edges[level + 1]]
        place = np.searchsorted(above, here) - 1
        found = above[place] if len(above) else np.full(len(here), -1)
        known = (place >= 0) & (found >= 0)
        known &= end[found] > start[here]
        parent[here] = np.where(known, found, -1)
    return parent
