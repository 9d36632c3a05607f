"""Why streams of devices were idle between two kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from summarykit.profiler.analysis.choosing import RUNS, on_devices
from summarykit.profiler.analysis.launching import Calls
from summarykit.profiler.analysis.parts import cut, parts
from summarykit.profiler.recording import Recording, Spans, Table
from summarykit.shapes import Array, Floats, Ints

CLOSE = 30_000
"""A gap below this many ns is the device's own: it could not begin the next kernel sooner."""

_CAUSES = np.array(["host", "launch", "other"], object)


def idle(recording: Recording, window: tuple[int, int]) -> Table:
    """Why each stream had nothing to do between two kernels.

    Returns:
        ``device``, ``stream``, ``cause``, ``count`` of gaps, ``time`` (ms). Causes: ``host`` (the next launch came after the stream had
        finished), ``launch`` (shorter than 30 µs: the device's own latency), ``other`` (it waited for another stream, or nothing is known
        of the launch).
    """
    spans, calls, (start, end) = recording.spans, Calls(recording.spans), cut(recording.spans, window)
    count, time = np.zeros((2, max(len(spans.lanes), 1) * len(_CAUSES)))
    before = _Runs(*np.empty((4, 0), np.int64))
    for some, part in parts(spans, start, end):
        runs = before.followed_by(_begun(part, calls, start[some].min(), end[some].max()))
        key, gap = runs.gaps()
        count += np.bincount(key, minlength=len(count))
        time += np.bincount(key, gap, minlength=len(time))
        before = runs.last()
    return _table(spans, count, time)


@dataclass(frozen=True, eq=False)
class _Runs:
    """What ran on streams, by lane and start: int64 columns of one length; ``end`` is the latest one so far in the lane."""

    lane: Ints
    start: Ints
    end: Ints
    launch: Ints

    def followed_by(self, later: _Runs) -> _Runs:
        """These and later ones, in order."""
        lane, start, end, launch = (np.concatenate(pair) for pair in zip(self._columns(), later._columns(), strict=True))
        order = np.lexsort((start, lane))
        return _Runs(lane[order], start[order], _reach(lane[order], end[order]), launch[order])

    def last(self) -> _Runs:
        """Of each lane, to be followed by others."""
        last = np.append(self.lane[1:] != self.lane[:-1], True)[: len(self.lane)]
        return _Runs(*(column[last] for column in self._columns()))

    def gaps(self) -> tuple[Ints, Ints]:
        """Lane and cause as one number, and ns, of each time in which the lane had nothing to do."""
        gap = self.start[1:] - self.end[:-1]
        cause = np.where(self.launch[1:] > self.end[:-1], 0, np.where(gap < CLOSE, 1, 2))
        counted = (self.lane[1:] == self.lane[:-1]) & (gap > 0)
        return (self.lane[1:] * len(_CAUSES) + cause)[counted], gap[counted]

    def _columns(self) -> tuple[Ints, ...]:
        return self.lane, self.start, self.end, self.launch


def _begun(spans: Spans, calls: Calls, since: int, until: int) -> _Runs:
    chosen = np.flatnonzero(on_devices(spans) & spans.of(*RUNS) & (spans.start >= since) & (spans.start < until))
    start = spans.start[chosen]
    return _Runs(spans.lane[chosen].astype(np.int64), start, start + spans.duration[chosen], calls.times(spans.correlation[chosen]))


def _reach(lane: Ints, end: Ints) -> Ints:
    """The latest end so far in the lane of each."""
    if not len(end):
        return end
    base, width = end.min(), int(end.max() - end.min()) + 1
    return np.maximum.accumulate(end - base + lane * width) - lane * width + base


def _table(spans: Spans, count: Floats, time: Floats) -> Table:
    keys: Array = np.flatnonzero(count)
    rows = [spans.lanes[key // len(_CAUSES)] for key in keys.tolist()]
    return Table(
        device=np.array([row.process for row in rows], np.int64),
        stream=np.array([row.thread for row in rows], np.int64),
        cause=_CAUSES[keys % len(_CAUSES)],
        count=count[keys].astype(np.int64),
        time=time[keys] / 1e6,
    )
