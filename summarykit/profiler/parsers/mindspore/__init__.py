"""What MindSpore's profiler leaves: steps, operators of the CPU, and how the dataset's pipeline did. One recording a device."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from summarykit.profiler.parsers.mindspore import cpu_ops, dataset, framework_data, places, step_trace, tlv
from summarykit.profiler.recording import Recording, Table

_OP_RANGE = "mindspore.op_range"
_FRAMEWORK = {
    "memory": ("mindspore.memory_usage", framework_data.memory),
    "input_shapes": ("mindspore.record_shapes", framework_data.shapes),
}
_NAMES = re.compile(
    r"(?:pipeline_profiling|device_queue_profiling|dataset_iterator_profiling|minddata_cpu_utilization|cpu_op_execute_timestamp|cpu_op_type_info"
    r"|cpu_op_detail_info|step_trace_raw)_(?P<device>\d+)(?:_detail_time)?\.(?:json|txt|csv)(?:\.gz)?$"
)


def sniff(path: Path) -> bool:
    """Whether such files are in the folder (or in ``FRAMEWORK`` below it), or it is one."""
    try:
        return bool(_devices(path))
    except OSError:
        return False


def parse(path: Path) -> list[Recording]:
    """Read each device.

    Raises:
        OSError: a file cannot be read.
    """
    return [_read(path, device) for device in _devices(path)]


def _devices(path: Path) -> list[int]:
    entries = [path] if path.is_file() else [entry for place in (path, path / "FRAMEWORK") if place.is_dir() for entry in place.iterdir()]
    names = [entry.name for entry in entries]
    devices = {int(match["device"]) for match in map(_NAMES.match, names) if match}
    return sorted(devices or ({0} if {_OP_RANGE, *(name for name, _ in _FRAMEWORK.values())} & set(names) else set()))


def _read(path: Path, device: int) -> Recording:
    skipped: Counter[str] = Counter()
    ranges = places.find(path, _OP_RANGE)
    spans = cpu_ops.spans(path, device, skipped)
    if ranges and not len(spans):
        spans = tlv.spans([ranges], skipped, device)
    steps = step_trace.steps(path, device, skipped)
    tables = {"steps": steps, **cpu_ops.tables(path, device, skipped), **dataset.tables(path, device, skipped)}
    tables |= _framework(path, skipped)
    tables = {name: table for name, table in tables.items() if table.rows}
    return Recording("mindspore", path, spans, tables, rank=device, meta={"device": device}, skipped=+skipped)


def _framework(path: Path, skipped: Counter[str]) -> dict[str, Table]:
    found = {name: (places.find(path, file), reads) for name, (file, reads) in _FRAMEWORK.items()}
    return {name: reads(place, skipped) for name, (place, reads) in found.items() if place}
