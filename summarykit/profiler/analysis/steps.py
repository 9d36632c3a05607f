"""How long the steps are: percentiles, first steps that are long, and where the length changes for good."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from summarykit.profiler.analysis.change_points import change_points
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Floats

_LONG = 2.0
"""A first step is long from this many medians on."""


def steps(recording: Recording) -> Table:
    """The steps, by start: ``step``, ``start``, ``end`` (ns), ``duration`` (ms); those of the recording without a length are left out."""
    found = recording.tables.get("steps", Table())
    if not found.rows:
        empty = np.empty(0, np.int64)
        return Table(step=empty, start=empty, end=empty, duration=np.empty(0))
    order = np.argsort(found["start"], kind="stable")
    order = order[found["end"][order] > found["start"][order]]
    step, start, end = found["step"][order], found["start"][order], found["end"][order]
    return Table(step=step, start=start, end=end, duration=(end - start) / 1e6)


def step_times(steps: Table) -> dict[str, Any]:
    """The lengths of steps in numbers, in ms; without steps only their ``count``, 0.

    Returns:
        ``count``, ``mean``, ``median``, ``p90``, ``p99``, ``min``, ``max``, ``spread`` (middle half, relative to the median), ``first``
        (how many steps at the beginning are long: twice the median of the rest or more), ``first_extra`` (ms that these took longer than as
        many others).
    """
    duration = steps["duration"]
    if not len(duration):
        return {"count": 0}
    low, median, high = np.percentile(duration, (25, 50, 75)).tolist()
    first = _long_first(duration)
    return {
        "count": len(duration),
        "mean": float(duration.mean()),
        "median": median,
        "p90": float(np.percentile(duration, 90)),
        "p99": float(np.percentile(duration, 99)),
        "min": float(duration.min()),
        "max": float(duration.max()),
        "spread": (high - low) / median if median else 0.0,
        "first": first,
        "first_extra": float(duration[:first].sum() - first * median),
    }


def step_changes(steps: Table) -> Table:
    """Where the length changes for good: ``step`` (the first of the new length), ``before`` and ``after`` (medians in ms)."""
    duration, first = steps["duration"], _long_first(steps["duration"])
    places = [place + first for place in change_points(duration[first:])]
    edges = [first, *places, len(duration)]
    medians = [float(np.median(duration[begin:end])) for begin, end in pairwise(edges) if end > begin]
    return Table(step=steps["step"][places], before=np.array(medians[:-1], float), after=np.array(medians[1:], float))


def _long_first(duration: Floats) -> int:
    """How many steps at the beginning are long."""
    if len(duration) < 4:
        return 0
    short = duration < _LONG * np.median(duration[len(duration) // 2 :])
    first = int(np.argmax(short)) if short.any() else 0
    return first if first <= len(duration) // 4 else 0
