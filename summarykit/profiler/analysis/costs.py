"""What the recording itself took: a profiler says what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from summarykit.profiler.recording import Recording, Table


def costs(recordings: list[Recording]) -> Table:
    """A row for each rank and collector.

    Returns:
        ``rank``, ``collector``, ``calls``, and in ms ``time`` (of a processor, all calls), ``start`` and ``stop`` (of the training thread).
    """
    rows = [(recording.rank, *row) for recording in recordings for row in _of(recording.meta.get("costs"))]
    rank, collector, *numbers = zip(*rows, strict=True) if rows else ((),) * 6
    calls, *times = (np.array(column, np.int64) for column in numbers)
    names = ("time", "start", "stop")
    table = Table(rank=np.array(rank, np.int64), collector=np.array(collector, object), calls=calls)
    return Table(table, **{name: time / 1e6 for name, time in zip(names, times, strict=True)})


def _of(found: Any) -> Iterator[tuple[str, int, int, int, int]]:
    for name, cost in (found if isinstance(found, dict) else {}).items():
        if isinstance(cost, dict):
            calls, ns, start, stop = (int(cost.get(key, 0)) for key in ("calls", "ns", "start_ns", "stop_ns"))
            yield str(name), calls, ns, start, stop
