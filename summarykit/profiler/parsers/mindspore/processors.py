"""``minddata_cpu_utilization_<d>.json``: use of the processors, of the machine, of the process and of each stage of the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.mindspore.places import json_of
from summarykit.profiler.parsers.rows import listed, number, table
from summarykit.profiler.recording import Table

_OWNERS = {"device_info": "device", "process_info": "process", "process_memory_info": "memory", "system_memory_info": "system_memory"}


def processors(path: Path, device: int, skipped: Counter[str]) -> Table:
    """Samples of one device's process.

    Returns:
        Columns: owner object (``"device"``: the machine; ``"process"``, ``"memory"``: of the process; ``"system_memory"``, ``"op"``; and
        ``"file"``, which tells ``time_stamp`` (ms), ``cpu_processor_num``, ``sampling_interval`` (ms)), op_id int64 (-1 where none),
        counter object (``user_utilization`` …), sample int64 (its place in the series), time int64 (ms; -1 where the file gives no time
        for it), value float64 (percent, or MB of memory).
    """
    content = json_of(path, f"minddata_cpu_utilization_{device}.json", skipped)
    times = [int(time) for time in listed(content, "time_stamp") if number(time)]
    rows = [row for series in _series(content) for row in _rows(*series, times)] + list(_about(content, times))
    return table(rows, owner=object, op_id=int, counter=object, sample=int, time=int, value=float)


def _series(content: dict[str, Any]) -> Iterator[tuple[str, int, str, list[Any]]]:
    for key, owner in _OWNERS.items():
        for counter, values in _mapping(content.get(key)).items():
            yield owner, -1, counter, values
    for stage in listed(content, "op_info"):
        if isinstance(stage, dict) and isinstance(stage.get("op_id"), int) and number(stage["op_id"]):
            for counter, values in _mapping(stage.get("metrics")).items():
                yield "op", stage["op_id"], counter, values


def _about(content: dict[str, Any], times: list[int]) -> Iterator[tuple[Any, ...]]:
    for name in ("cpu_processor_num", "sampling_interval"):
        if number(content.get(name)):
            yield "file", -1, name, 0, -1, content[name]
    for place, time in enumerate(times):
        yield "file", -1, "time_stamp", place, time, time


def _mapping(value: Any) -> dict[str, list[Any]]:
    return {str(key): series for key, series in value.items() if isinstance(series, list)} if isinstance(value, dict) else {}


def _rows(owner: str, op_id: int, counter: str, values: list[Any], times: list[int]) -> Iterator[tuple[Any, ...]]:
    """A use is of the time between two stamps: where there is one value less, the first has the second stamp."""
    later = 1 if len(values) == len(times) - 1 else 0
    for place, value in enumerate(values):
        if number(value):
            stamp = place + later
            yield owner, op_id, counter, place, times[stamp] if stamp < len(times) else -1, value
