"""Pairs of starts and ends as spans."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.profiler.parsers.ascend.blocks import sort_blocks
from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.ascend.pairing import Pairs
from summarykit.profiler.parsers.ascend.ticks import NANOSECONDS_PER_TICK
from summarykit.profiler.parsers.columns import Growing, numbering, numbers
from summarykit.profiler.recording import Category, Lane, Spans, Table
from summarykit.shapes import Array, Ints

AI_CPU_THREAD = 9000
_AI_CPU = 1 << 32         # behind the streams, whose numbers have 32 bits
_TASK_BITS = 31           # of a task's number there are as many
_TASK_MASK = (1 << _TASK_BITS) - 1


class Kernels:
    """Gathers what ran on a device, in columns no wider than their numbers: a second of a device has hundreds of thousands of tasks."""

    def __init__(self, framework: Framework) -> None:
        """Begin with nothing.

        Args:
            framework: names the tasks that it knows; others are called ``stream_task``.
        """
        self._framework = framework
        self._others, self._streams = numbering(), numbering()
        self._columns = Growing(np.int64, np.int32, np.int16, np.int16)
        self._edges = [0]

    def feed(self, pairs: Pairs) -> None:
        """Add pairs."""
        start, duration = pairs.start * NANOSECONDS_PER_TICK, pairs.duration * NANOSECONDS_PER_TICK
        streams, place = np.unique(pairs.stream, return_inverse=True)
        self._add(start, duration, self._named(pairs), numbers(self._streams, streams.tolist())[place])

    def feed_cpu(self, cpu: Table) -> None:
        """Add what ran on the AI CPU: ``name``, ``start`` and ``end`` in µs."""
        name = len(self._framework.names) + numbers(self._others, cpu["name"].astype(str).tolist())
        lane = np.full(cpu.rows, self._streams[_AI_CPU], np.int32)
        self._add(cpu["start"] * 1000, (cpu["end"] - cpu["start"]) * 1000, name, lane)

    def spans(self, device: int) -> Spans:
        """All of them, by their starts; they are handed over."""
        columns = self._columns.take()
        sort_blocks(columns, np.array(self._edges))
        start, duration, name, lane = columns
        streams: list[Any] = list(self._streams)
        category = np.array([Category.HOST_OP if stream == _AI_CPU else Category.KERNEL for stream in streams], np.uint8)[lane]
        place = np.argsort(np.argsort(streams)).astype(lane.dtype)
        lanes = [self._lane(stream, device) for stream in sorted(streams)]
        none = np.broadcast_to(np.int64(-1), len(start))
        return Spans(start, duration, name, category, place[lane], none, self._names(), lanes)

    def _add(self, start: Ints, duration: Ints, name: Array, lane: Array) -> None:
        order = np.argsort(start, kind="stable")
        self._columns.add(start[order], duration[order], name[order], lane[order])
        self._edges.append(len(self._columns))

    def _named(self, pairs: Pairs) -> Ints:
        name = self._framework.find(pairs.stream, pairs.task)
        unknown = np.flatnonzero(name < 0)
        if len(unknown):
            keys = pairs.stream[unknown].astype(np.int64) << _TASK_BITS | pairs.task[unknown].astype(np.int64)
            keys, place = np.unique(keys, return_inverse=True)
            name[unknown] = len(self._framework.names) + numbers(self._others, keys.tolist())[place]
        return name

    def _names(self) -> list[str]:
        told = (f"{key >> _TASK_BITS}_{key & _TASK_MASK}" if isinstance(key, int) else str(key) for key in self._others)
        return [*self._framework.names, *told]

    def _lane(self, number: int, device: int) -> Lane:
        if number == _AI_CPU:
            return Lane(device, AI_CPU_THREAD, "AI CPU", device=True, rank=device)
        return Lane(device, number, f"Stream {number}", device=True, rank=device)
