"""What stands out among the ranks of a MindSpore training, by MindInsight's rules, as advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.mindinsight_cluster import proposal
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.queries import Queries
from summarykit.profiler.sheet import number

_WITHIN = "larger allreduce fusion (all_reduce_fusion_config), fewer or larger collectives, another split of the operators"
_RULES = {
    "step_interval": (
        "rank {rank_id} waits longest for its input", "{val} ms between two steps, {percent}% more than the ranks on average",
        "look at data preparation on that rank's host: its disk, its processors, num_parallel_workers",
    ),
    "flops_per_second": (
        "rank {rank_id} computes slowest", "{percent}% fewer operations a second than the ranks on average",
        "look at that device: its clock, its temperature, what else runs on it",
    ),
    "cluster_link": (
        "the link from rank {src_rank} to rank {des_rank} is slow", "{link_type}: {percent}% below its kind on average",
        "check that link: cable, port, switch; hccn_tool shows its errors",
    ),
    "data_parallel_communication_rate": ("ranks communicate for long", "{val}% of communication and computation", _WITHIN),
    "model_parallel_communication_rate": ("ranks communicate for long", "{val}% of communication and computation", _WITHIN),
    "pipeline_parallel_between_stage": (
        "stages of the pipeline wait for each other", "receiving takes {val}% of communication and computation",
        "more micro-batches; stages of equal length",
    ),
    "pipeline_parallel_within_stage": (
        "ranks of stage {stage} communicate for long", "{val}% of communication and computation", _WITHIN,
    ),
    "pipeline_parallel_flops": (
        "stage {stage} of the pipeline has most to compute", "{percent}% more operations than the stages on average",
        "move layers to other stages",
    ),
}  # fmt: skip


def check(report: Report) -> Iterator[Advice]:
    """Say so for the files of MindInsight that the first rank is from, where they are of several ranks."""
    first = report.last[0].recording if len(report.last) > 1 else None
    if first is None or first.source != "mindspore" or not first.path.is_dir():
        return
    for name, found in _flat(proposal(Queries(first.path).cluster)):
        title, evidence, change = _RULES[name]
        told = {key: number(value) if isinstance(value, float) else value for key, value in found.items()}
        yield Advice(
            rule="cluster",
            title=title.format(**told),
            evidence=evidence.format(**told),
            change=change,
            check="it no longer stands out in a new recording of all ranks",
        )


def _flat(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The findings, each with the name of its rule."""
    for name, value in found.items():
        if name == "cluster_link":
            yield from ((name, link) for link in value)
        elif name == "parallel_strategy":
            yield from value.items()
        else:
            yield name, value
