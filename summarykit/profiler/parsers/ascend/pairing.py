"""From starts and ends to stretches of time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from summarykit.profiler.parsers.ascend.hwts import TASK_END, TASK_START, Block
from summarykit.shapes import Array, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Tasks that ran, as columns of one length: start and duration int64 ticks, stream uint32, task uint16."""

    start: Ints
    duration: Ints
    stream: Array
    task: Array


class Pairing:
    """Pairs each start with the next end of the same task on the same stream, over the borders of blocks.

    In a capture some tasks never end, and some ends have no start: these are counted.
    """

    def __init__(self, skipped: Counter[str]) -> None:
        """Begin with no task running.

        Args:
            skipped: gets the counts.
        """
        self._skipped = skipped
        self._open: tuple[Array, ...] = (np.zeros(0, bool), np.zeros(0, np.uint16), np.zeros(0, np.int64), np.zeros(0, np.uint32))

    def feed(self, block: Block) -> Pairs:
        """The tasks that ended in this block, in the order of streams and tasks."""
        rows = block.kind <= TASK_END
        columns: tuple[Array, ...] = (block.kind == TASK_START, block.task, block.time, block.stream)
        if not rows.all():
            columns = tuple(column[rows] for column in columns)
        joined: list[Array] = [np.concatenate(each) for each in zip(self._open, columns, strict=True)]
        starts, task, time, stream = joined
        order = _by_stream_and_task(stream, task)
        starts, task, time, stream = starts[order], task[order], time[order], stream[order]
        return self._pair(starts, task, time, stream)

    def _pair(self, starts: Array, task: Array, time: Ints, stream: Array) -> Pairs:
        same = np.zeros(len(task), bool)       # the row and the next are of one task
        same[:-1] = (task[1:] == task[:-1]) & (stream[1:] == stream[:-1])
        begins = starts.copy()
        begins[:-1] &= same[:-1] & ~starts[1:]
        begins[-1:] = False
        waiting = starts & ~same
        self._open = (starts[waiting], task[waiting], time[waiting], stream[waiting])
        first = np.flatnonzero(begins)
        self._skipped["tasks started again before they ended"] += int(starts.sum() - len(first) - waiting.sum())
        self._skipped["ends of tasks that never started"] += int(len(starts) - starts.sum() - len(first))
        return self._forward(time[first], time[first + 1], stream[first], task[first])

    def _forward(self, start: Ints, end: Ints, stream: Array, task: Array) -> Pairs:
        forward = end >= start
        self._skipped["tasks that ended before they started"] += int(len(start) - forward.sum())
        if not forward.all():
            start, end, stream, task = start[forward], end[forward], stream[forward], task[forward]
        return Pairs(start, end - start, stream, task)

    def close(self) -> None:
        """Count what still runs."""
        self._skipped["tasks that never ended"] += len(self._open[0])


def _by_stream_and_task(stream: Array, task: Array) -> Array:
    """A stable order; 16-bit keys make NumPy use a radix sort, which is ten times as fast."""
    if not len(stream) or stream.max() > 0xFFFF:
        return np.lexsort((task, stream))
    by_task = np.argsort(task, kind="stable")
    return by_task[np.argsort(stream[by_task].astype(np.uint16), kind="stable")]
