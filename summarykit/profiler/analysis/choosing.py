"""Which spans: by the lane's owner, by name; and when any of them was on."""

from __future__ import annotations

import re
from collections.abc import Container

import numpy as np

from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.recording import Category, Spans
from summarykit.shapes import Array

RUNS = (Category.KERNEL, Category.COMMUNICATION, Category.MEMCPY, Category.MEMSET)
"""What keeps a device busy."""


def on_devices(spans: Spans) -> Array:
    """Which spans lie in the lane of a device: bool, shape ``[n]``."""
    return of_lanes(spans, [lane.device for lane in spans.lanes])


def matching(spans: Spans, pattern: re.Pattern[str]) -> Array:
    """Which spans have a name that begins as the pattern says: bool, shape ``[n]``."""
    return _of_names(spans, [pattern.match(name) is not None for name in spans.names])


def named(spans: Spans, names: Container[str]) -> Array:
    """Which spans have one of these names: bool, shape ``[n]``."""
    return _of_names(spans, [name in names for name in spans.names])


def covered(spans: Spans, chosen: Array) -> Intervals:
    """When any of the chosen spans (bool, or indexes) was on."""
    start = spans.start[chosen]
    return Intervals.union(start, start + spans.duration[chosen])


def of_lanes(spans: Spans, held: list[bool]) -> Array:
    """Which spans lie in a lane that is held: bool, shape ``[n]``."""
    return np.array(held or [False])[spans.lane] if len(spans) else np.empty(0, np.bool_)


def _of_names(spans: Spans, held: list[bool]) -> Array:
    return np.array(held or [False])[spans.name] if len(spans) else np.empty(0, np.bool_)
