"""``memory_usage_{summary,details}_<d>.json``: memory of an Ascend device while each node of a graph runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.profiler.intermediate.target import Target
from summarykit.profiler.recording import Recording

_GIB = 1 << 30


def write(recording: Recording, target: Target) -> None:
    """Write both files, in GiB as MindInsight shows them."""
    table = recording.tables.get("graph_memory")
    if table is None:
        return
    details: dict[str, Any] = {}
    for graph in np.unique(table["graph"]).tolist():
        chosen = table["graph"] == graph
        used = table["used"][chosen] / _GIB
        lines = [round(value, 6) for value in used.tolist()]
        names = table["node"][chosen].tolist()
        nodes = [{"node_id": number, "node_name": name, "total_mem": lines[number]} for number, name in enumerate(names)]
        details[str(graph)] = {
            "graph_id": graph, "static_mem": round(float(used.min()), 6), "nodes": nodes, "lines": lines, "breakdowns": [[] for _ in nodes],
        }
    peak = max((max(graph["lines"]) for graph in details.values()), default=0.0)
    target.json("memory_usage_details_{}.json", details)
    target.json("memory_usage_summary_{}.json", {
        "capacity": recording.meta.get("memory_capacity", 0) / _GIB, "peak_mem": peak, "static_mem": 0, "allocations": int(table.rows),
        "deallocations": int(table.rows),
    })
