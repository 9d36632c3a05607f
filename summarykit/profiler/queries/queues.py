"""How the queues of the input did: MindInsight's ``queue_info``, ``minddata_op`` and ``process_summary``."""

from __future__ import annotations

from typing import Any

from summarykit.profiler.parsers.mindspore.queue_log import BATCH_TOTAL, PIPELINE_GET, PUSH, QUEUE, TIME
from summarykit.profiler.parsers.rows import int64
from summarykit.profiler.queries.source import Source

EMPTY_WARNING = 0.3
"""The host is too slow where the queue to the device was empty in more than this part of the batches."""


def device_queue(source: Source, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The queue to the device.

    Returns:
        ``{size, info: {queue: [batches in it]}, summary: {queue_summary: {empty_queue, full_queue}}}`` and
        ``{size, info: {total_cost, push_cost, get_cost: [ms]}, summary: {time_summary: {avg_cost, get_cost, push_cost}}}``, by batch; both
        empty where nothing was recorded.
    """
    rows = _log(source, device)
    if rows is None:
        return {}, {}
    filled = sorted((row[2], row[3], row[1]) for row in rows if row[0] == QUEUE)
    sizes = [int(size) for _, size, _ in filled]
    summary = {"empty_queue": sizes.count(0), "full_queue": sum(size == capacity for _, size, capacity in filled)}
    return {"size": len(sizes), "info": {"queue": sizes}, "summary": {"queue_summary": summary}}, _times(rows)


def _log(source: Source, device: str) -> list[list[float]] | None:
    for name in (f"device_queue_profiling_{device}.txt", f"dataset_iterator_profiling_{device}.txt"):
        if name in source:
            return source.lines(name, _numbers)
    return None


def _numbers(words: list[str]) -> list[float]:
    kind, extra, batch, value = (float(int64(word)) if place < 3 else float(word) for place, word in enumerate(words[:4]))
    if not abs(value) < 2**53:
        raise ValueError(f"{value} is no size and no time")
    return [kind, extra, batch, value]


def _times(rows: list[list[float]]) -> dict[str, Any]:
    kinds = {"total_cost": BATCH_TOTAL, "push_cost": PUSH, "get_cost": PIPELINE_GET}
    found = {name: _by_batch(rows, kind) for name, kind in kinds.items()}
    size = len(found["total_cost"])
    answer: dict[str, Any] = {"size": size, "info": found}
    if size:
        means = {name: sum(values) / size for name, values in found.items()}
        answer["summary"] = {"time_summary": {"avg_cost": means.pop("total_cost"), **means}}
    return answer


def _by_batch(rows: list[list[float]], kind: int) -> list[float]:
    return [value for _, value in sorted((row[2], row[3]) for row in rows if row[:2] == [TIME, kind])]


def get_next(source: Source, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the network's ``GetNext`` found.

    Returns:
        ``{size, info: {queue}, summary: {queue_summary: {empty_queue}}}`` and ``{size, info: {get_next: [ms]}, summary: {time_summary:
        {avg_cost}}}``; both empty where nothing was recorded.
    """
    for name, microsecond in ((f"minddata_aicpu_{device}.txt", 1.0), (f"minddata_getnext_profiling_{device}.txt", 1e3)):
        if name in source:
            rows = source.lines(name, lambda words: [int64(word) for word in words[1:4]] if words[0].startswith("GetNext") else [])
            return _get_next(rows, microsecond)
    return {}, {}


def _get_next(rows: list[list[int]], microsecond: float) -> tuple[dict[str, Any], dict[str, Any]]:
    sizes = [row[2] for row in rows if len(row) > 2]
    times = [(row[1] - row[0]) / 1e3 / microsecond for row in rows if len(row) > 1]
    queue = {"size": len(sizes), "info": {"queue": sizes}, "summary": {"queue_summary": {"empty_queue": sizes.count(0)}}}
    if not times:
        return queue, {}
    summary = {"time_summary": {"avg_cost": sum(times) / len(times)}}
    return queue, {"size": len(times), "info": {"get_next": times}, "summary": summary}


def process_summary(source: Source, device: str) -> dict[str, Any]:
    """Which part of the input is too slow.

    Returns:
        ``{data_process, device_queue_warning, data_transmission, get_next: {status: "normal" | "warning"}, get_next_queue_info,
        device_queue_info: {summary}}``; without knowledge of ``GetNext`` ``fpbp`` in place of ``data_transmission`` and ``get_next``; empty
        where nothing was recorded.
    """
    host, _ = device_queue(source, device)
    network, _ = get_next(source, device)
    if not host:
        return {}
    parts = ("data_process", "device_queue_warning", *(("data_transmission", "get_next") if network else ("fpbp",)))
    answer: dict[str, Any] = {part: {"status": "normal"} for part in parts}
    counts = host["summary"]["queue_summary"]
    answer["device_queue_info"] = {"summary": {
        "empty_batch_count": counts["empty_queue"], "full_batch_count": counts["full_queue"], "total_batch": host["size"],
    }}
    waited = 0
    if network:
        waited = network["summary"]["queue_summary"]["empty_queue"]
        answer["get_next_queue_info"] = {"summary": {"empty_batch_count": waited, "total_batch": network["size"]}}
    answer[_slow(counts["empty_queue"], host["size"], waited)]["status"] = "warning"
    return answer


def _slow(empty: int, batches: int, waited: int) -> str:
    if empty > batches * EMPTY_WARNING:
        return "data_process"
    return "data_transmission" if waited else "device_queue_warning"
