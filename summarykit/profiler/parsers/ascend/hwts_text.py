"""Writes records of the hardware's task log as the table that MindSpore's own parser makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from summarykit.profiler.parsers.ascend.framework import UNIQUE_FROM
from summarykit.profiler.parsers.ascend.hwts import TITLES, Block

_LAYOUT = "%-14s %-4s %-8s %-9s %-8s %-15s %s\n"


def lines(blocks: Iterable[Block], *, unique_from: int = UNIQUE_FROM) -> Iterator[str]:
    """``output_format_data_hwts_<device>.txt``, line by line.

    Args:
        blocks: as ``hwts.read`` gives them.
        unique_from: a task is called ``task`` from this number on, and ``stream_task`` below it (MindSpore until 1.5: 25,000).
    """
    yield "=" * 20 + "45 HWTS data" + "=" * 20 + "\n"
    yield _LAYOUT % ("Type", "cnt", "Core_ID", "Block_ID", "Task_ID", "Cycle_counter", "Stream_ID")
    for block in blocks:
        columns = (block.kind, block.count, block.core, block.block, block.task, block.time, block.stream)
        for kind, count, core, number, task, time, stream in zip(*(np.asarray(column).tolist() for column in columns), strict=True):
            key = f"{stream}_{task}" if task < unique_from else str(task)
            yield _LAYOUT % (TITLES[kind], count, core, number, key, time, stream)
