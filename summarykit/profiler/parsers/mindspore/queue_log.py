"""``device_queue_profiling_<d>.txt`` or ``dataset_iterator_profiling_<d>.txt``: a line for each thing that a batch met on its way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from summarykit.profiler.parsers.mindspore.places import find, text_of
from summarykit.profiler.parsers.rows import each, int64, table
from summarykit.profiler.recording import Table

COLUMNS = ("type", "extra", "batch", "value", "time")
TIME, QUEUE = 0, 1
PIPELINE_GET, PUSH, BATCH_TOTAL = range(3)


def queue_log(path: Path, device: int, skipped: Counter[str]) -> Table:
    """The lines of one device; the queue to the device where there is one, else the iterator's.

    Returns:
        Columns of int64: type (0 a time, 1 the queue), extra (of a time: 0 getting from the pipeline, 1 pushing, 2 the batch in all; of
        the queue: its capacity), batch (from 1), value (ms, or batches in the queue), time (ms; -1 in old files, which do not say it).
    """
    name = f"device_queue_profiling_{device}.txt"
    if find(path, name) is None:
        name = f"dataset_iterator_profiling_{device}.txt"
    lines = [line for line in text_of(path, name, skipped).splitlines() if line.strip()]
    return table(each(lines, _line, skipped, f"lines of {name}"), **dict.fromkeys(COLUMNS, int))


def _line(line: str) -> tuple[int, ...]:
    kind, extra, batch, value, *time = line.split()
    return int64(kind), int64(extra), int64(batch), int64(value), int64(time[0]) if time else -1
