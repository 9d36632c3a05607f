"""What was sampled meanwhile, in numbers: processors, memory, queues, GPUs."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.recording import Recording, Table


def counters(recording: Recording) -> Table:
    """A row a counter: ``counter``, ``samples``, ``mean``, ``min``, ``median``, ``p90``, ``max``, ``last``, ``zero`` (share of samples)."""
    found = recording.tables.get("counters", Table())
    if not found.rows:
        return Table()
    order = np.argsort(found["time"], kind="stable")
    name, value = found["counter"][order], found["value"][order].astype(np.float64)
    texts, number = np.unique(name.astype(str), return_inverse=True)
    groups = Groups(number)
    median, high = groups.percentile(value, 50, 90)
    last = value[len(value) - 1 - np.unique(number[::-1], return_index=True)[1]]
    return Table(
        counter=texts.astype(object),
        samples=groups.count,
        mean=groups.sum(value) / groups.count,
        min=groups.min(value),
        median=median,
        p90=high,
        max=groups.max(value),
        last=last,
        zero=groups.sum((value == 0).astype(np.float64)) / groups.count,
    )
