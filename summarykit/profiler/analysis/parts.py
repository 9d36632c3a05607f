"""Many spans, some time of them at once: what an analysis reckons with beside them would take several times their memory.

A gigabyte of a device's log has eight million spans. Nothing here changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from summarykit.profiler.analysis.intervals import Roles, shares
from summarykit.profiler.recording import Spans
from summarykit.shapes import Array, Ints

MOST = 1 << 18
"""Spans that are looked at together, about."""

PIECE = 1 << 16
"""Rows of a piece: what is made of it fits a processor's cache."""

_SAMPLE = 1 << 12


def pieces(count: int) -> Iterator[slice]:
    """Stretches of rows, one after the other."""
    return (slice(begin, begin + PIECE) for begin in range(0, count, PIECE))


def parts(spans: Spans, start: Ints, end: Ints) -> Iterator[tuple[slice, Spans]]:
    """Windows, some at a time, and the spans that are on in them.

    Args:
        spans: all spans.
        start: int64 nanoseconds, ascending, shape ``[windows]``: where each window begins.
        end: where each ends.

    Yields:
        Which windows, and the spans; all of them together where there are few spans.
    """
    if len(spans) <= MOST:
        yield slice(0, len(start)), spans
        return
    group = _begun(spans, start) // MOST
    edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(start)]
    for first, last in pairwise(edges):
        some = slice(first, last)
        yield some, spans.take(on(spans, int(start[first]), int(end[some].max())) if last > first else np.empty(0, np.int64))


def shared(spans: Spans, roles: Callable[[Spans], Roles], start: Ints, end: Ints) -> dict[str, Ints]:
    """``shares`` of windows that follow one another, where roles are when some spans are on."""
    found = [shares(roles(part), start[some], end[some]) for some, part in parts(spans, start, end)]
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def cut(spans: Spans, window: tuple[int, int]) -> tuple[Ints, Ints]:
    """A window as several in which about as many spans begin: starts and ends."""
    sample = _sample(spans)[:: max(MOST // _stride(spans), 1)] if len(spans) > MOST else np.empty(0, np.int64)
    edges = np.unique(np.concatenate([[window[0]], sample[(sample > window[0]) & (sample < window[1])], [window[1]]]))
    return (edges[:-1], edges[1:]) if len(edges) > 1 else (edges, edges)


def on(spans: Spans, since: int, until: int) -> Ints:
    """The spans that are on then, as their places among all."""
    found: list[Array] = [np.empty(0, np.int64)]
    for some in pieces(len(spans)):
        start = spans.start[some]
        found.append(some.start + np.flatnonzero((start < until) & ((start + spans.duration[some] > since) | (start >= since))))
    return np.concatenate(found)


def latest(spans: Spans) -> int:
    """Where the last span ends, in ns; 0 without any."""
    return max((int((spans.start[some] + spans.duration[some]).max()) for some in pieces(len(spans))), default=0)


def _begun(spans: Spans, time: Ints) -> Ints:
    """How many spans have begun at each time, about."""
    return np.searchsorted(_sample(spans), time) * _stride(spans)


def _sample(spans: Spans) -> Ints:
    return np.sort(spans.start[:: _stride(spans)])


def _stride(spans: Spans) -> int:
    return max(len(spans) // _SAMPLE, 1)
