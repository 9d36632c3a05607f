"""``aicore.data.<device>.slice_<n>``: counters of the AI Core's units for each task, from which floating-point operations follow.

The layout comes from MindSpore's reader (``flops_parser``); no capture of it is public.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend.binary import packed, table
from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.rows import objects
from summarykit.profiler.recording import Table
from summarykit.shapes import Floats, Ints

LAYOUT = packed(128, task=("<u2", 6), counters=("(8,)<u8", 32), stream=("<u4", 96))
# Operations that one count of each of the eight counters stands for: cube float16, cube int8, then five of the vector unit, and the rest.
CUBE = np.array([16**3 * 2, 16 * 16 * 32 * 2])
VECTOR = np.array([32, 128, 64, 64, 32])


def read(paths: list[Path], framework: Framework, skipped: Counter[str]) -> Table:
    """Operations of each operator that the framework names.

    Args:
        paths: slices in order.
        framework: names the operators.
        skipped: gets counts of what cannot be read.

    Returns:
        Columns: name (object), count (int64, how often it ran), cube, vector (float64, operations of one run on average).
    """
    rows = table(paths, LAYOUT, skipped, "aicore")
    found = framework.find(rows["stream"], rows["task"])
    skipped["AI Core tasks that the framework does not name"] += int((found < 0).sum())
    rows, found = rows[found >= 0], found[found >= 0]
    numbers, place, count = np.unique(found, return_inverse=True, return_counts=True)
    counters = rows["counters"].astype(np.float64)
    cube, vector = counters[:, :2] @ CUBE, counters[:, 2:7] @ VECTOR
    names = objects([framework.names[index] for index in numbers])
    return Table(name=names, count=count, cube=_mean(cube, place, count), vector=_mean(vector, place, count))


def _mean(values: Floats, place: Ints, count: Ints) -> Floats:
    return np.bincount(place, values, len(count)) / count if len(count) else np.zeros(0)


def peak_flops(frequency: float, cores: int) -> float:
    """What the AI Cores of a device can do in a second.

    Args:
        frequency: ``aic_frequency`` of ``info.json``, in MHz.
        cores: ``ai_core_num`` of ``info.json``.
    """
    return frequency * 1e6 * cores * 4096 * 2
