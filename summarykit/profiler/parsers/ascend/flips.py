"""Task numbers beyond 16 bits: where shapes are dynamic, a stream's numbers begin anew after 65,535, and the framework counts on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from summarykit.profiler.parsers.ascend.hwts import Block
from summarykit.shapes import Array, Ints

SPAN = 1 << 16


def widened(blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks with the numbers that the framework knows: int64, a span further each time that a stream's numbers go down."""
    streams, last = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for block in blocks:
        stream = np.concatenate([streams, block.stream.astype(np.int64)])
        task = np.concatenate([last % SPAN, block.task.astype(np.int64)])
        wide = task + SPAN * (flips(stream, task) + _before(streams, last, stream))
        streams, place = np.unique(stream[::-1], return_index=True)
        yield replace(block, task=wide[len(wide) - len(block) :])
        last = wide[::-1][place]


def _before(streams: Ints, last: Ints, stream: Ints) -> Ints:
    """How often the numbers of each row's stream had begun anew before this block."""
    if not len(streams):
        return np.zeros(len(stream), np.int64)
    place = np.minimum(np.searchsorted(streams, stream), len(streams) - 1)
    return np.where(streams[place] == stream, last[place] // SPAN, 0)


def flips(stream: Array, task: Array) -> Ints:
    """How often each stream's numbers have gone down so far.

    Args:
        stream: shape ``[n]``.
        task: shape ``[n]``.

    Returns:
        int64, shape ``[n]``.
    """
    order = np.argsort(stream, kind="stable")
    sorted_stream, sorted_task = stream[order], task[order].astype(np.int64)
    same = np.diff(sorted_stream, prepend=sorted_stream[:1]) == 0
    totals = np.cumsum(same & (np.diff(sorted_task, prepend=sorted_task[:1]) < 0))
    first_of_stream = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    result = np.empty(len(order), np.int64)
    result[order] = totals - totals[first_of_stream] if len(order) else totals
    return result
