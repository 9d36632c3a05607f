"""Pairs of starts and ends as spans."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.ascend.pairing import Pairs
from summarykit.profiler.parsers.ascend.ticks import NANOSECONDS_PER_TICK
from summarykit.profiler.recording import Category, Lane, Spans, Table
from summarykit.shapes import Array

AI_CPU_THREAD = 9000
_TASK_BITS = 31           # of a stream there are 32
_TASK_MASK = (1 << _TASK_BITS) - 1


class Kernels:
    """Gathers what ran on a device."""

    def __init__(self, framework: Framework) -> None:
        """Begin with nothing.

        Args:
            framework: names the tasks that it knows; others are called ``stream_task``.
        """
        self._framework = framework
        kinds = (np.int64, np.int64, np.uint32, np.uint16, np.int32)
        self._start, self._duration, self._stream, self._task, self._name = ([np.zeros(0, kind)] for kind in kinds)

    def feed(self, pairs: Pairs) -> None:
        """Add pairs."""
        self._start.append(pairs.start)
        self._duration.append(pairs.duration)
        self._stream.append(pairs.stream)
        self._task.append(pairs.task)
        self._name.append(self._framework.find(pairs.stream, pairs.task).astype(np.int32))

    def spans(self, device: int) -> Spans:
        """All of them, by their starts; they are handed over, so that no more than one column is there twice."""
        start = _taken(self._start)
        order = np.argsort(start, kind="stable").astype(np.int32)
        start.sort(kind="stable")
        duration = _taken(self._duration)[order]
        start *= NANOSECONDS_PER_TICK
        duration *= NANOSECONDS_PER_TICK
        stream = _taken(self._stream)[order]
        names, name = self._names(stream, _taken(self._task)[order], _taken(self._name)[order])
        streams, lane = _numbered(stream)
        lanes = [Lane(device, int(number), f"Stream {number}", device=True, rank=device) for number in streams]
        category, correlation = np.broadcast_to(np.uint8(Category.KERNEL), len(start)), np.broadcast_to(np.int64(-1), len(start))
        return Spans(start, duration, name, category, lane.astype(np.int32), correlation, names, lanes)

    def _names(self, stream: Array, task: Array, name: Array) -> tuple[list[str], Array]:
        unknown = np.flatnonzero(name < 0)
        keys, place = np.unique(stream[unknown].astype(np.int64) << _TASK_BITS | task[unknown].astype(np.int64), return_inverse=True)
        name[unknown] = place + len(self._framework.names)
        return self._framework.names + [f"{key >> _TASK_BITS}_{key & _TASK_MASK}" for key in keys.tolist()], name


def _taken(parts: list[Array]) -> Array:
    """A column from its parts, which it replaces."""
    column = np.concatenate(parts)
    parts.clear()
    return column


def _numbered(values: Array) -> tuple[Array, Array]:
    """Different values in order, and the place of each among them; without a sort where the values are small."""
    if not len(values) or values.max() >= 1 << 24:
        return np.unique(values, return_inverse=True)
    present = np.zeros(int(values.max()) + 1, bool)
    present[values] = True
    return np.flatnonzero(present), (np.cumsum(present, dtype=np.int32) - 1)[values]


def merged(spans: Spans, cpu: Table, device: int) -> Spans:
    """Spans of the device with those of the AI CPU, by their starts."""
    if not cpu.rows:
        return spans
    texts, name = np.unique(cpu["name"].astype(str), return_inverse=True)
    start = np.concatenate([spans.start, cpu["start"] * 1000])
    order = np.argsort(start, kind="stable")
    count = cpu.rows
    lane = Lane(device, AI_CPU_THREAD, "AI CPU", device=True, rank=device)
    added: tuple[Array, ...] = (
        (cpu["end"] - cpu["start"]) * 1000, (name + len(spans.names)).astype(np.int32), np.full(count, Category.HOST_OP, np.uint8),
        np.full(count, len(spans.lanes), np.int32), np.full(count, -1, np.int64),
    )
    own: tuple[Array, ...] = (spans.duration, spans.name, spans.category, spans.lane, spans.correlation)
    duration, name, category, row, correlation = (np.concatenate(pair)[order] for pair in zip(own, added, strict=True))
    return Spans(start[order], duration, name, category, row, correlation, [*spans.names, *texts.tolist()], [*spans.lanes, lane])
