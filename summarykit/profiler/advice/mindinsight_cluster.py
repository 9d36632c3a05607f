"""MindInsight's advice on several ranks: ``summary/cluster-propose``, with its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarykit.profiler.queries import NotRecordedError
from summarykit.profiler.queries.cluster import Cluster

AWAY = 0.2                # from the mean
COMMUNICATION = 0.1       # of communication and computation together


def proposal(cluster: Cluster) -> dict[str, Any]:
    """What stands out; a part whose files are not all there says nothing."""
    rules = {"step_interval": _interval, "flops_per_second": _flops, "cluster_link": _links, "parallel_strategy": _strategy}
    found = {name: _told(rule, cluster) for name, rule in rules.items()}
    return {name: value for name, value in found.items() if value}


def _told(rule: Any, cluster: Cluster) -> Any:
    try:
        return rule(cluster)
    except NotRecordedError:
        return None


def _worst(values: Sequence[float], sign: int) -> tuple[int, float] | None:
    """Place and share of the value that is furthest above (1) or below (-1) the mean; None where none is far enough."""
    mean = sum(values) / len(values) if values else 0.0
    away = [sign * (value / mean - 1) if mean else 0.0 for value in values]
    place = max(range(len(away)), key=away.__getitem__, default=-1)
    return (place, away[place]) if place >= 0 and away[place] > AWAY else None


def _interval(cluster: Cluster) -> dict[str, Any]:
    return _rank(cluster.step_intervals(), "step_interval", 1)


def _flops(cluster: Cluster) -> dict[str, Any]:
    return _rank(cluster.flops_per_second(), "FLOPS", -1)


def _rank(told: list[dict[str, Any]], name: str, sign: int) -> dict[str, Any]:
    worst = _worst([each[name] for each in told], sign)
    if worst is None:
        return {}
    place, share = worst
    return {"rank_id": told[place]["rank_id"], "val": round(told[place][name], 4), "percent": round(share * 100, 2)}


def _links(cluster: Cluster) -> list[dict[str, Any]]:
    kinds: dict[str, list[tuple[int, int, float]]] = {}
    for ends, kind, _, _, bandwidth in cluster.links().rows:
        source, target = map(int, ends.split("-"))
        if source != target:
            kinds.setdefault(kind, []).append((source, target, bandwidth))
    found = []
    for kind, links in kinds.items():
        worst = _worst([bandwidth for *_, bandwidth in links], -1)
        if worst is not None:
            (source, target, bandwidth), share = links[worst[0]], worst[1]
            found.append({
                "src_rank": source, "des_rank": target, "link_type": kind, "val": round(bandwidth, 4), "percent": round(share * 100, 2),
            })
    return found


def _strategy(cluster: Cluster) -> dict[str, Any]:
    if cluster.mode != "pipeline-parallel":
        name = f"{cluster.mode.replace('-', '_')}_communication_rate"
        found = {name: _rate(cluster.communication_rate())}
    else:
        rates = cluster.stage_rates()
        slowest = max(rates, key=lambda each: each["rate"], default={"rate": 0.0, "stage_id": 0})
        within = _rate(slowest["rate"])
        found = {
            "pipeline_parallel_between_stage": _rate(cluster.receive_rate()),
            "pipeline_parallel_within_stage": {**within, "stage": slowest["stage_id"]} if within else {},
            "pipeline_parallel_flops": _stages(cluster),
        }
    return {name: value for name, value in found.items() if value}


def _rate(rate: float) -> dict[str, float]:
    return {"val": round(rate * 100, 2), "threshold": round(COMMUNICATION * 100, 2)} if rate > COMMUNICATION else {}


def _stages(cluster: Cluster) -> dict[str, Any]:
    """The stage that computes most, where it stands out."""
    size = max(cluster.size // cluster.stages, 1)
    totals: dict[int, float] = {}
    for each in cluster.flops():
        stage = cluster.stage_of(each["rank_id"])
        totals[stage] = totals.get(stage, 0.0) + each["FLOPs"] / size
    worst = _worst(list(totals.values()), 1)
    if worst is None:
        return {}
    stage, value = list(totals.items())[worst[0]]
    return {"stage": stage, "val": round(value, 4), "percent": round(worst[1] * 100, 2)}
