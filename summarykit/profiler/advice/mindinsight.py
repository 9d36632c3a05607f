"""MindInsight's own advice: its rules on steps and on the dataset's pipeline, with its keys, so that both can be compared.

MindInsight shows them only where steps begin late and a stage of the pipeline is slow; ``proposal`` does the same, ``findings`` does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, worth
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.queries import NotRecordedError, Queries
from summarykit.profiler.queries.pipeline import THRESHOLD
from summarykit.profiler.queries.queues import EMPTY_WARNING

INTERVAL = 0.5            # ms on average before the forward pass begins
BUSY = 80                 # percent of the machine
MINDSPORE = ("mindspore", "ascend")      # sources whose pipeline is one of its datasets
LABEL = "-proposer_type_label"
_CHANGES = {
    "dataset_op": "vary num_parallel_workers of the stage that reads; make a Python generator faster, or keep its data in files",
    "generator_op": "vary num_parallel_workers; make the Python source faster, or keep the data in a format that is read faster",
    "map_op": "vary num_parallel_workers; replace a Python function by an operator of the library",
    "batch_op": "raise prefetch_size, so that more batches are ready",
}


def _interval(queries: Queries) -> dict[str, Any]:
    if "iteration_interval" not in queries.steps.columns:
        return {}
    late = queries.step_trace({"mode": "proc", "proc_name": "iteration_interval", "step_id": 0})["info"]["iteration_interval"][0]
    return {"step_trace-iter_interval": [str(INTERVAL)]} if late > INTERVAL else {}


def _queues(queries: Queries) -> dict[str, Any]:
    told = queries.process_summary()
    found: dict[str, Any] = {}
    if "get_next_queue_info" in told:
        summary = told["get_next_queue_info"]["summary"]
        found["minddata_get_next_queue"] = [summary["empty_batch_count"], summary["total_batch"]]
    if told:
        found.update(_device_queue(told))
    return {**found, **_busy(queries)}


def _device_queue(told: dict[str, Any]) -> dict[str, Any]:
    summary = told["device_queue_info"]["summary"]
    empty, full, batches = (summary[name] for name in ("empty_batch_count", "full_batch_count", "total_batch"))
    found: dict[str, Any] = {"minddata_device_queue": [empty, batches, full, batches]}
    if told["device_queue_warning"]["status"] == "warning":
        return {**found, "device_queue_warning": ["warning"]}
    rate = math.ceil(empty / batches * 100) if batches else 0
    return {**found, "minddata_device_queue_rate": {"empty_rate": rate, "empty_warning_threshold": round(EMPTY_WARNING * 100)}}


def _busy(queries: Queries) -> dict[str, Any]:
    try:
        busy = 100 - queries.idle()
    except NotRecordedError:
        return {}
    return {"minddata_cpu_utilization": [busy]} if busy > BUSY else {}


def _slow_stages(queries: Queries) -> dict[str, Any]:
    slow = queries.pipeline.slow(queries.pipeline.rows, THRESHOLD) if queries.pipeline.rows else []
    if not slow or slow[0][8] is None:       # the root: every queue is full, so nothing is slow
        return {}
    found = {}
    for kind in ("general", "dataset_op", "generator_op", "map_op", "batch_op"):
        names = [f"{row[1]}_{row[0]}" for row in slow if kind in ("general", _stage(row))]
        if names:
            found[f"minddata_pipeline-{kind}"] = ["/".join(reversed(names))]
    return found


def _stage(row: list[Any]) -> str:
    """What kind of stage it is: one that nothing feeds reads the data, whatever it is called."""
    kinds = {"Map": "map_op", "Generator": "generator_op", "Batch": "batch_op"}
    return kinds.get(str(row[1]).removesuffix("Op"), "") if row[9] else "dataset_op"


RULES: dict[str, Callable[[Queries], dict[str, Any]]] = {"step_trace": _interval, "minddata": _queues, "minddata_pipeline": _slow_stages}
"""Name of a group of rules -> what it finds."""


def findings(queries: Queries) -> dict[str, Any]:
    """What each rule finds, by MindInsight's keys; empty where there is nothing to say."""
    found: dict[str, Any] = {}
    for name, rule in RULES.items():
        told = _told(rule, queries)
        if told:
            found.update({f"{name}{LABEL}": None, **told})
    return found


def _told(rule: Callable[[Queries], dict[str, Any]], queries: Queries) -> dict[str, Any]:
    try:
        return rule(queries)
    except NotRecordedError:
        return {}


def proposal(queries: Queries) -> dict[str, Any]:
    """What MindInsight's page shows: ``summary/propose``."""
    found = findings(queries)
    if "step_trace-iter_interval" not in found or "minddata_pipeline-general" not in found:
        found = {}
    rate = found.get("minddata_device_queue_rate", {})
    if rate.get("empty_rate") and rate["empty_rate"] <= rate["empty_warning_threshold"]:
        found = {name: value for name, value in found.items() if not name.startswith("minddata_pipeline-")}
    return {**found, f"common{LABEL}": None, "common-profiler_tutorial": None}


def check(report: Report) -> Iterator[Advice]:
    """The stages of a MindSpore dataset that are slow, as advice, unless steps show that nobody waits for it."""
    for profile in report.profiles:
        if profile.recording.source not in MINDSPORE or "pipeline" not in profile.recording.tables:
            continue
        if profile.usual.rows and not worth(profile, cause(profile, "data wait")):
            continue
        queries = Queries(profile.recording)
        found = findings(queries)
        told = [(found[f"minddata_pipeline-{kind}"][0], kind) for kind in _CHANGES if f"minddata_pipeline-{kind}" in found]
        for names, kind in told:
            if kind != "dataset_op" or len(told) == 1:      # a first stage whose queue others drain is not what is slow
                yield _advice(names, _CHANGES[kind], found)


def _advice(names: str, change: str, found: dict[str, Any]) -> Advice:
    empty, batches, *_ = found.get("minddata_device_queue", [0, 0])
    queue = f"; the queue to the device was empty for {empty} of {batches} batches" if batches else ""
    return Advice(
        rule="mindinsight",
        title=f"slow stage of the dataset: {names}",
        evidence=f"the queue behind it is emptier than that in front{queue}",
        change=change,
        check="use of the queue behind the stage, and fewer batches that find the queue to the device empty",
    )
