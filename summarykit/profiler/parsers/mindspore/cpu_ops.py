"""``cpu_op_execute_timestamp_<d>.txt``, ``cpu_op_detail_info_<d>.csv`` and ``cpu_op_type_info_<d>.csv``: operators on the CPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend.framework import type_of
from summarykit.profiler.parsers.mindspore.places import text_of
from summarykit.profiler.parsers.rows import csv_rows, each, int64, table
from summarykit.profiler.recording import Category, Lane, Spans, Table
from summarykit.shapes import Array


def spans(path: Path, device: int, skipped: Counter[str]) -> Spans:
    """Every run of an operator: lines ``name;HostCpuOps;start_ns,duration_ms,thread start_ns,duration_ms,thread …``."""
    names: list[str] = []
    parts: list[tuple[int, Array]] = []
    for line in text_of(path, f"cpu_op_execute_timestamp_{device}.txt", skipped).splitlines():
        runs = _runs(line, skipped)
        if len(runs):
            parts.append((len(names), runs))
            names.append(line.split(";", 1)[0])
    runs = np.concatenate([np.zeros((0, 3), np.int64), *(part for _, part in parts)])
    name = np.repeat(np.array([place for place, _ in parts], np.int32), [len(part) for _, part in parts])
    order = np.argsort(runs[:, 0], kind="stable")
    threads, lane = np.unique(runs[order, 2], return_inverse=True)
    return Spans(
        runs[order, 0], runs[order, 1], name[order], np.full(len(runs), Category.HOST_OP, np.uint8), lane.astype(np.int32),
        np.full(len(runs), -1, np.int64), names, [Lane(device, int(number), f"Thread {number}", rank=device) for number in threads],
    )


def _runs(line: str, skipped: Counter[str]) -> Array:
    """Starts, durations (ns) and threads: int64, shape ``[runs, 3]``. Starts are beyond what float64 holds, so each is read as it is."""
    runs = list(each(line.split(";")[-1].split(), _run, skipped, "runs of CPU operators"))
    return np.array(runs, np.int64).reshape(-1, 3)


def _run(text: str) -> tuple[int, int, int]:
    start, duration, *thread = text.split(",")
    return int64_time(start), int64(str(round(float(duration) * 1e6))), int64(thread[0]) if thread else 0


def int64_time(text: str) -> int:
    """Nanoseconds since 1970 or since the machine started.

    Raises:
        ValueError: it is no such time.
    """
    number = int(text)
    if not 0 <= number < 2**62:
        raise ValueError(f"{number} is no time")
    return number


def tables(path: Path, device: int, skipped: Counter[str]) -> dict[str, Table]:
    """The table ``operators``, from the file of details.

    Its columns: name, type, side objects, count int64, total and average float64 ms, subgraph object.
    """
    name = f"cpu_op_detail_info_{device}.csv"
    rows = each(csv_rows(text_of(path, name, skipped), skipped, name), _operator, skipped, "rows of cpu_op_detail_info")
    return {"operators": table(rows, name=object, type=object, side=object, count=int, total=float, average=float, subgraph=object)}


def _operator(row: list[str]) -> tuple[str, str, str, int, float, float, str]:
    side, kind, _, name, count, total, average = row[:7]
    return name, kind or type_of(name), side.lower(), int64(count), float(total), float(average), row[8] if len(row) > 8 else ""
