"""How the dataset's pipeline did: ``minddata_pipeline_raw_<d>.csv`` and MindSpore's own files, which MindInsight reads beside it."""

from __future__ import annotations

import json
from typing import Any

from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.parsers.mindspore.pipeline import ROOT
from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Floats

HEADER = (
    "op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size", "output_queue_length", "output_queue_usage_rate",
    "sample_interval", "parent_id", "children_id",
)
_ABOUT = ("cpu_processor_num", "sampling_interval", "time_stamp")
_COLUMNS = ("op_id", "op_type", "num_workers", "sizes", "capacity", "interval", "parent", "children")


def write(recording: Recording, target: Target) -> None:
    """Write the files that the recording has data for."""
    pipeline = recording.tables.get("pipeline")
    if pipeline is not None:
        target.csv("minddata_pipeline_raw_{}.csv", HEADER, raw(pipeline))
        target.json("pipeline_profiling_{}.json", _profiling(pipeline))
    if "queue" in recording.tables:
        lines = (" ".join(map(str, row)) for row in rows(recording.tables["queue"], "type", "extra", "batch", "value", "time"))
        target.text("device_queue_profiling_{}.txt", "".join(f"{line}\n" for line in lines))
    if "device_queue" in recording.tables:
        found = rows(recording.tables["device_queue"], "name", "start", "end", "size")
        target.text("minddata_aicpu_{}.txt", "".join(f"{name} {start} {end} {size}\n" for name, start, end, size in found))
    if "processors" in recording.tables:
        target.json("minddata_cpu_utilization_{}.json", _processors(recording.tables["processors"]))


def raw(pipeline: Table) -> list[list[Any]]:
    """The rows of the csv file: of the root and of stages with a queue; a stage without one is stepped over to its children."""
    stages = {row[0]: row for row in rows(pipeline, *_COLUMNS)}
    parents: list[tuple[int, int | None]] = [(ROOT, None)] if ROOT in stages else []
    body = []
    for number, parent in parents:      # grows while it is walked
        _, kind, workers, sizes, capacity, interval, _, _ = stages[number]
        children = _shown(stages, number)
        parents += [(child, number) for child in children]
        body.append([number, kind, workers, *_queue(sizes, capacity), interval, parent, json.dumps(children) if children else None])
    return body


def _queue(sizes: list[int] | None, capacity: int) -> list[Any]:
    if not sizes or not capacity:
        return [None] * 4
    average = sum(sizes) / len(sizes)
    return [json.dumps(sizes), average, capacity, average / capacity]


def _shown(stages: dict[int, tuple[Any, ...]], number: int) -> list[int]:
    """The nearest stages below that have a queue."""
    found: list[int] = []
    for child in (child for child in stages[number][-1] if child in stages and stages[child][6] == number):
        found += [child] if stages[child][3] is not None else _shown(stages, child)
    return found


def _profiling(pipeline: Table) -> dict[str, Any]:
    stages = [
        {
            "op_id": number, "op_type": kind, "num_workers": workers, "children": children or None,
            "metrics": None if sizes is None else {"output_queue": {"size": sizes, "length": capacity}},
        }
        for number, kind, workers, sizes, capacity, _, _, children in rows(pipeline, *_COLUMNS)
    ]
    return {"sampling_interval": int(pipeline["interval"][0]), "op_info": stages}


def _processors(table: Table) -> dict[str, Any]:
    about = {name: _numbers(table["value"][(table["owner"] == "file") & (table["counter"] == name)]) for name in _ABOUT}
    content: dict[str, Any] = {
        "cpu_processor_num": sum(about["cpu_processor_num"]), "sampling_interval": sum(about["sampling_interval"]),
        "time_stamp": about["time_stamp"], "device_info": {}, "process_info": {}, "op_info": [],
    }
    operators: dict[int, dict[str, list[float]]] = {}
    homes = {"device": content["device_info"], "process": content["process_info"]}
    keys = dict.fromkeys(zip(table["owner"].tolist(), table["op_id"].tolist(), table["counter"].tolist(), strict=True))
    for owner, number, counter in keys:
        chosen = (table["owner"] == owner) & (table["op_id"] == number) & (table["counter"] == counter)
        home = operators.setdefault(number, {}) if owner == "op" else homes.get(owner)
        if home is not None:
            home[counter] = _numbers(table["value"][chosen])
    content["op_info"] = [{"op_id": number, "metrics": metrics} for number, metrics in operators.items()]
    return content


def _numbers(values: Floats) -> list[float]:
    return [int(value) if value == int(value) else value for value in values.tolist()]
