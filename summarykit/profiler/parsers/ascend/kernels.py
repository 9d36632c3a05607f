"""Pairs of starts and ends as spans."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.ascend.pairing import Pairs
from summarykit.profiler.parsers.ascend.ticks import NANOSECONDS_PER_TICK
from summarykit.profiler.recording import Category, Lane, Spans, Table
from summarykit.shapes import Array, Ints

AI_CPU_THREAD = 9000


class Kernels:
    """Gathers what ran on a device."""

    def __init__(self, framework: Framework) -> None:
        """Begin with nothing.

        Args:
            framework: names the tasks that it knows; others are called ``stream_task``.
        """
        self._framework = framework
        self._parts: list[tuple[Array, ...]] = []

    def feed(self, pairs: Pairs) -> None:
        """Add pairs."""
        self._parts.append((pairs.start, pairs.duration, pairs.stream, pairs.task, self._framework.find(pairs.stream, pairs.task)))

    def spans(self, device: int) -> Spans:
        """All of them, by their starts."""
        start, duration, stream, task, name = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in self._columns())
        order = np.argsort(start, kind="stable")
        start, duration, stream, task, name = (column[order] for column in (start, duration, stream, task, name))
        streams, lane = np.unique(stream, return_inverse=True)
        names, name = self._names(stream, task, name)
        lanes = [Lane(device, int(number), f"Stream {number}", device=True, rank=device) for number in streams]
        category, correlation = np.full(len(start), Category.KERNEL, np.uint8), np.full(len(start), -1, np.int64)
        start, duration = start * NANOSECONDS_PER_TICK, duration * NANOSECONDS_PER_TICK
        return Spans(start, duration, name, category, lane.astype(np.int32), correlation, names, lanes)

    def _columns(self) -> list[tuple[Array, ...]]:
        return list(zip(*self._parts, strict=True)) if self._parts else [()] * 5

    def _names(self, stream: Array, task: Array, name: Ints) -> tuple[list[str], Array]:
        unknown = name < 0
        keys, place = np.unique(stream[unknown].astype(np.int64) << 16 | task[unknown].astype(np.int64), return_inverse=True)
        name = name.copy()
        name[unknown] = place + len(self._framework.names)
        return self._framework.names + [f"{key >> 16}_{key & 0xFFFF}" for key in keys.tolist()], name.astype(np.int32)


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
