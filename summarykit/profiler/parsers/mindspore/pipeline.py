"""``pipeline_profiling_<d>.json``: the stages of the pipeline, and how full the queue behind each was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.mindspore.places import json_of
from summarykit.profiler.parsers.rows import listed, number, table
from summarykit.profiler.recording import Table

ROOT = 0


def pipeline(path: Path, device: int, skipped: Counter[str]) -> Table:
    """The stages, from the root on, each before those that feed it.

    Returns:
        Columns: op_id int64, op_type object, num_workers int64, sizes object (a list of int, or None where there is no queue behind it),
        capacity int64 (0 without a queue), interval int64 (ms between samples), parent int64 (-1 for the root), children object (a list).
    """
    content = json_of(path, f"pipeline_profiling_{device}.json", skipped)
    stages = {}
    for stage in listed(content, "op_info"):
        if isinstance(stage, dict) and isinstance(stage.get("op_id"), int) and number(stage["op_id"]):
            stages[stage["op_id"]] = stage
        else:
            skipped["stages of the pipeline that cannot be read"] += 1
    rows = [_row(stages[number], parent, content.get("sampling_interval")) for number, parent in _from_root(stages)]
    return table(rows, op_id=int, op_type=object, num_workers=int, sizes=object, capacity=int, interval=int, parent=int, children=object)


def _from_root(stages: dict[int, dict[str, Any]]) -> list[tuple[int, int]]:
    """Each stage with its parent, breadth first; a stage that is named twice, or nowhere, is not followed again."""
    order = [(ROOT, -1)] if ROOT in stages else []
    seen = {ROOT}
    for stage, _ in order:        # grows while it is walked
        for child in _children(stages[stage]):
            if child in stages and child not in seen:
                seen.add(child)
                order.append((child, stage))
    return order


def _children(stage: dict[str, Any]) -> list[int]:
    return [child for child in listed(stage, "children") if isinstance(child, int)]


def _row(stage: dict[str, Any], parent: int, interval: Any) -> tuple[Any, ...]:
    metrics = stage.get("metrics")
    queue = metrics.get("output_queue") if isinstance(metrics, dict) else None
    queue = queue if isinstance(queue, dict) else {}
    sizes = [size for size in queue["size"] if number(size)] if isinstance(queue.get("size"), list) else None
    capacity, workers = _whole(queue.get("length")), _whole(stage.get("num_workers"))
    return stage["op_id"], str(stage.get("op_type", "")), workers, sizes, capacity, _whole(interval), parent, _children(stage)


def _whole(value: Any) -> int:
    return int(value) if number(value) else 0
