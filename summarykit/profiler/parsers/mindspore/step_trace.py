"""``step_trace_raw_<d>_detail_time.csv``: the steps, as MindSpore's own analysis of a device's raw files left them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from summarykit.profiler.parsers.ascend.ticks import NANOSECONDS_PER_TICK
from summarykit.profiler.parsers.mindspore.places import text_of
from summarykit.profiler.parsers.rows import csv_lines, each, int64, table
from summarykit.profiler.recording import Table

_POINTS = ("start_point", "end_point", "fp_point", "bp_point")    # the last is absent where nothing was trained


def steps(path: Path, device: int, skipped: Counter[str]) -> Table:
    """The table ``steps``; the row with the average is none."""
    name = f"step_trace_raw_{device}_detail_time.csv"
    lines = csv_lines(text_of(path, name, skipped), skipped, name)
    header = next(lines, [])
    place = {title: number for number, title in enumerate(header)}
    known = {"step_num", *_POINTS[:3]} <= place.keys()

    def step(row: list[str]) -> tuple[int, ...]:
        """Number and times of one step; -1 for a time that is not there."""
        times = (int64(row[place[point]]) * NANOSECONDS_PER_TICK if point in place else -1 for point in _POINTS)
        return int64(row[place["step_num"]]), *times

    rows = (row for row in lines if row and row[0] not in ("-", "0")) if known else ()
    return table(each(rows, step, skipped, "rows of step_trace_raw"), step=int, start=int, end=int, fp_start=int, bp_end=int)
