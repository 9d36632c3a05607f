"""What the recording itself took: a profiler says what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from summarykit.profiler.recording import Recording, Table


def costs(recordings: list[Recording]) -> Table:
    """A row for each rank and collector.

    Returns:
        ``rank``, ``collector``, ``calls``, in ms ``time`` (of a processor, all calls), ``start`` and ``stop`` (of the training thread), and
        ``limited``: what was done about one that took too much; "" else.
    """
    rows = [(recording.rank, *row) for recording in recordings for row in _of(recording.meta.get("costs"))]
    limits = [_limits(recording.meta.get("governed")) for recording in recordings for _ in _of(recording.meta.get("costs"))]
    rank, collector, *numbers = zip(*rows, strict=True) if rows else ((),) * 6
    limited = [limit.get(name, "") for limit, name in zip(limits, collector, strict=True)]
    calls, *times = (np.array(column, np.int64) for column in numbers)
    names = ("time", "start", "stop")
    table = Table(rank=np.array(rank, np.int64), collector=np.array(collector, object), calls=calls)
    return Table(table, **{name: time / 1e6 for name, time in zip(names, times, strict=True)}, limited=np.array(limited, object))


def _limits(found: Any) -> dict[str, str]:
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}


def _of(found: Any) -> Iterator[tuple[str, int, int, int, int]]:
    for name, cost in (found if isinstance(found, dict) else {}).items():
        if isinstance(cost, dict):
            calls, ns, start, stop = (int(cost.get(key, 0)) for key in ("calls", "ns", "start_ns", "stop_ns"))
            yield str(name), calls, ns, start, stop
