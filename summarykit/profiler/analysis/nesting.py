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
        self._order, lane, start, end = _sorted(spans, chosen)
        depth = _depth(lane, start, end)
        parent = _parent(depth, lane)
        inner = np.zeros(len(chosen), np.int64)
        child = np.flatnonzero(parent >= 0)
        within = np.minimum(end[child], end[parent[child]]) - start[child]
        np.add.at(inner, parent[child], np.maximum(within, 0))
        self.depth = self._unsorted(depth)
        self.above = self._unsorted(np.where(parent >= 0, self._order[parent], -1))
        self.self_time = self._unsorted(np.maximum(end - start - inner, 0))

    def _unsorted(self, column: Ints) -> Ints:
        found = np.empty_like(column)
        found[self._order] = column
        return found


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


def _sorted(spans: Spans, chosen: Array) -> tuple[Ints, Ints, Ints, Ints]:
    """Order by lane and start, what is longer first; and the columns in that order."""
    lane, start = spans.lane[chosen].astype(np.int64), spans.start[chosen]
    end = start + spans.duration[chosen]
    order = np.lexsort((-end, start, lane))
    return order, lane[order], start[order], end[order]


def _depth(lane: Ints, start: Ints, end: Ints) -> Ints:
    """How many spans of the lane are open where each begins: those begun before it less those that have ended."""
    if not len(lane):
        return np.empty(0, np.int64)
    base = start.min()
    width = int(end.max() - base) + 2
    shift = lane * width - base    # lanes one behind the other
    end = np.where(end > start, end, start + 1)    # what has no length is open where it begins
    ended = np.searchsorted(np.sort(end + shift), start + shift, side="right")
    return np.maximum(np.arange(len(lane)) - ended, 0)


def _parent(depth: Ints, lane: Ints) -> Ints:
    """The last span before it that is one level up, level by level."""
    parent = np.full(len(depth), -1)
    above = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        place = np.searchsorted(above, here) - 1
        found = np.where(place >= 0, above[place], -1) if len(above) else np.full(len(here), -1)
        parent[here] = np.where((found >= 0) & (lane[found] == lane[here]), found, -1)
        above = here
    return parent
