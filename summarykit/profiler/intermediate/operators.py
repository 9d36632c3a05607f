"""Operators of a GPU (``gpu_op_type_info``, ``gpu_op_detail_info``, ``gpu_activity_data``) and of a CPU (``cpu_op_…``), as csv files."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.analysis.operators import operators as analysed
from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Category, Recording, Table

_GPU_TYPE = ("op_type", "type_occurrences", "total_time(us)", "total_proportion", "avg_time(us)")
_GPU_DETAIL = (
    "op_side", "op_type", "op_name", "op_full_name", "op_occurrences", "op_total_time(us)", "op_avg_time(us)", "total_proportion",
    "cuda_activity_cost_time(us)", "cuda_activity_call_count",
)
_ACTIVITY = (
    "name", "type", "op_full_name", "stream_id", "block_dim", "grid_dim", "occurrences", "total_duration(us)", "avg_duration(us)",
    "max_duration(us)", "min_duration(us)",
)
_CPU_TYPE = ("op_type", "type_occurrences", "execution_frequency(per-step)", "total_compute_time", "avg_time(ms)", "percent")
_CPU_DETAIL = (
    "op_side", "op_type", "op_name", "full_op_name", "op_occurrences", "op_total_time(ms)", "op_avg_time(ms)", "total_proportion",
    "subgraph", "pid",
)
_DEVICE = (Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION)


def write(recording: Recording, target: Target) -> None:
    """Write the files of the recording's kind; nothing of an Ascend device, whose files are others."""
    if target.kind == "ascend":
        return
    host = host_operators(recording)
    if not host.rows:
        return
    if target.kind == "gpu":
        _gpu(host, target)
        target.csv("gpu_activity_data_{}.csv", _ACTIVITY, _activities(recording))
    else:
        _cpu(recording, host, target)


def host_operators(recording: Recording) -> Table:
    """Operators of the host by their own time, so that what one calls is not counted twice.

    Columns: name, type, subgraph objects, count int64, total float64 ms, device float64 ms (what it launched).
    """
    found = analysed(recording)
    chosen = found["side"] == "host" if found.rows else np.zeros(0, bool)
    table = Table({name: column[chosen] for name, column in found.items()})
    names = table.get("name", np.zeros(0, object))
    spans_own = "self" in table
    return Table(
        name=names, type=np.array([type_of(name) for name in names], object) if spans_own or "type" not in table else table["type"],
        subgraph=np.array([name.split("/", 1)[0] if "/" in name else "Default" for name in names], object),
        count=table.get("count", np.zeros(0, np.int64)), total=table["self"] if spans_own else table.get("total", np.zeros(0)),
        device=table.get("device", np.zeros(len(names))),
    )


def type_of(name: str) -> str:
    """``Mul`` of ``Default/x/Mul-op29``, ``addmm`` of ``aten::addmm``."""
    return name.rsplit("/", 1)[-1].rsplit("::", 1)[-1].split("-op", 1)[0] or name


def _gpu(host: Table, target: Target) -> None:
    whole = float(host["total"].sum()) or 1.0
    body = [(kind, count, total * 1e3, total / whole, total * 1e3 / max(count, 1)) for kind, _, count, total in _by_type(host)]
    target.csv("gpu_op_type_info_{}.csv", _GPU_TYPE, body)
    details = [
        (*_called(kind, name), count, total * 1e3, total * 1e3 / max(count, 1), total / whole, device * 1e3, count if device else 0)
        for name, kind, count, total, device in rows(host, "name", "type", "count", "total", "device")
    ]
    target.csv("gpu_op_detail_info_{}.csv", _GPU_DETAIL, details)


def _cpu(recording: Recording, host: Table, target: Target) -> None:
    whole = float(host["total"].sum()) or 1.0
    steps = max(recording.tables.get("steps", Table()).rows, 1)
    types = [
        (kind, count, max(round(count / steps), 1), total, total / max(count, 1), total / whole) for kind, _, count, total in _by_type(host)
    ]
    target.csv("cpu_op_type_info_{}.csv", _CPU_TYPE, types)
    pid = recording.spans.lanes[0].process if recording.spans.lanes else 0
    details = [
        (*_called(kind, name), count, total, total / max(count, 1), total / whole, subgraph, pid)
        for name, kind, subgraph, count, total in rows(host, "name", "type", "subgraph", "count", "total")
    ]
    target.csv("cpu_op_detail_info_{}.csv", _CPU_DETAIL, details)


def _by_type(host: Table) -> list[tuple[Any, ...]]:
    """Type, number of operators, runs and milliseconds, those that take most first."""
    kinds, place = np.unique(host["type"].astype(str), return_inverse=True)
    counts = np.bincount(place, host["count"], len(kinds)).astype(np.int64)
    totals = np.bincount(place, host["total"], len(kinds))
    order = np.argsort(-totals, kind="stable")
    operators = np.bincount(place, minlength=len(kinds))
    return list(zip(*(column[order].tolist() for column in (kinds, operators, counts, totals)), strict=True))


def _called(kind: str, name: str) -> tuple[str, str, str, str]:
    return "Host", kind, name.rsplit("/", 1)[-1], name


def _activities(recording: Recording) -> list[tuple[Any, ...]]:
    """What ran on the device, by name and stream."""
    spans = recording.spans
    device = np.array([lane.device for lane in spans.lanes] or [False])
    chosen = np.flatnonzero(spans.of(*_DEVICE) & device[spans.lane]) if len(spans) else np.zeros(0, np.int64)
    groups = Groups(spans.name[chosen].astype(np.int64) << 32 | spans.lane[chosen])
    duration = spans.duration[chosen] / 1e3
    total = groups.sum(duration)
    columns = (groups.keys, groups.count, total, total / np.maximum(groups.count, 1), groups.max(duration), groups.min(duration))
    return [
        (spans.names[key >> 32], "kernel", "", spans.lanes[key & 0xFFFFFFFF].thread, "", "", *numbers)
        for key, *numbers in zip(*(column.tolist() for column in columns), strict=True)
    ]
