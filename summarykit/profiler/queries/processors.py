"""Use of the processors while the dataset's pipeline ran: MindInsight's ``minddata-cpu-utilization-summary``."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

from summarykit.profiler.parsers.mindspore.queue_log import QUEUE
from summarykit.profiler.parsers.rows import int64, listed, number
from summarykit.profiler.queries.source import Source

OTHER = -1                # the stage under which a file counts what is of no stage


def processors(source: Source, device: str, wanted: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Samples of some steps, and their means.

    Args:
        source: see there.
        device: the number in the files' names.
        wanted: ``start_step`` and ``end_step``, both included; all steps where not said.

    Returns:
        ``{sampling_interval, step_info, step_total_num, cpu_processor_num, device_info, process_info: {counter: {metrics, avg_value}},
        op_info: {op_list: [{op_id, num_workers, metrics}], total_op_avg_value}}``.

    Raises:
        NotRecordedError: nothing was recorded.
    """
    content = source.object(f"minddata_cpu_utilization_{device}.json")
    batches = _batches(source, device)
    stamps = [float(time) for time in listed(content, "time_stamp") if number(time)]
    steps = [_step(time, batches) for time in stamps[1:]] if batches else []
    total = len(batches) or _steps(source, device)
    wanted = wanted or {}
    window = _window(steps, wanted.get("start_step", 1), wanted.get("end_step", total))
    return {
        "sampling_interval": content.get("sampling_interval"), "step_info": steps[window], "step_total_num": total,
        "cpu_processor_num": content.get("cpu_processor_num"), "device_info": _means(content.get("device_info"), window),
        "process_info": _means(content.get("process_info"), window), "op_info": _stages(source, device, content, window),
    }


def idle(source: Source, device: str) -> float:
    """Percent of the machine that was idle, 100 where it is not known.

    Raises:
        NotRecordedError: nothing was recorded.
    """
    told = _means(source.object(f"minddata_cpu_utilization_{device}.json").get("device_info"), slice(None)).get("idle_utilization")
    return told["avg_value"] if told and told["metrics"] else 100


def _batches(source: Source, device: str) -> list[tuple[str, float]]:
    """Number, counted from 1, and time of each batch that left the queue."""
    for name in (f"device_queue_profiling_{device}.txt", f"dataset_iterator_profiling_{device}.txt"):
        if name in source:
            rows = source.lines(name, lambda words: (words[0] == str(QUEUE), int64(words[2]), int64(words[4]) if len(words) > 4 else None))
            first = rows[0][1] - 1 if rows else 0
            return [(str(batch - first), time) for queue, batch, time in rows if queue and time is not None]
    return []


def _step(time: float, batches: list[tuple[str, float]]) -> Any:
    """The batch that was the last at a time; 0 before the first."""
    times = [each for _, each in batches]
    if time < times[0]:
        return 0
    place = bisect_left(times, time)
    if place == len(times):
        return batches[-1][0]
    return batches[place if times[place] == time else place - 1][0]


def _steps(source: Source, device: str) -> int:
    name = f"step_trace_raw_{device}_detail_time.csv"
    return len(source.csv(name)[1]) - 1 if name in source else 0


def _window(steps: list[Any], first: int, last: int) -> slice:
    """The samples of some steps; all where no sample is known to belong to a step."""
    numbers = [int(step) for step in steps]
    return slice(bisect_left(numbers, first), bisect_right(numbers, last)) if numbers else slice(None)


def _means(counters: Any, window: slice) -> dict[str, Any]:
    told = counters if isinstance(counters, dict) else {}
    chosen = {name: [value for value in values if number(value)][window] for name, values in told.items() if isinstance(values, list)}
    return {name: {"metrics": values, "avg_value": round(sum(values) / len(values)) if values else 0} for name, values in chosen.items()}


def _stages(source: Source, device: str, content: Mapping[str, Any], window: slice) -> dict[str, Any]:
    pipeline = source.object(f"pipeline_profiling_{device}.json") if f"pipeline_profiling_{device}.json" in source else {}
    workers = {str(stage.get("op_id")): stage.get("num_workers") for stage in listed(pipeline, "op_info") if isinstance(stage, dict)}
    total = {"user_utilization": 0, "sys_utilization": 0}
    stages = []
    for stage in listed(content, "op_info"):
        if not isinstance(stage, dict) or str(stage.get("op_id")) == str(OTHER):
            continue
        metrics = _means(stage.get("metrics"), window)
        for name, values in metrics.items():
            total[name] = total.get(name, 0) + values["avg_value"]
        stages.append({"metrics": metrics, "op_id": stage.get("op_id"), "num_workers": workers.get(str(stage.get("op_id")))})
    return {"op_list": stages, "total_op_avg_value": total}
