"""Floating-point operations of an Ascend device: of each operator, of the device, and of each scope (``flops_…``)."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np

from summarykit.profiler.intermediate.kernels import operators_of
from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.parsers.ascend.aicore import peak_flops
from summarykit.profiler.recording import Recording, Table

_HEADER = (
    "full_kernel_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), FLOPS utilization(cube), "
    "MFLOPs(10^6 vector), GFLOPS(10^9 vector), FLOPS utilization(vec)"
)


def write(recording: Recording, target: Target) -> None:
    """Write the files where the device counted its operations."""
    flops = recording.tables.get("flops")
    if target.kind != "ascend" or flops is None:
        return
    _operators(recording, flops, target)
    target.json("flops_scope_{}.json", scopes(flops))


def _operators(recording: Recording, flops: Table, target: Target) -> None:
    seconds = {name: average / 1e3 for name, average in rows(operators_of(recording), "name", "average")}
    peak = peak_flops(recording.meta.get("aic_frequency", 0), recording.meta.get("ai_core_num", 0))
    lines, totals = [_HEADER], np.zeros(3)
    for name, count, cube, vector in rows(flops, "name", "count", "cube", "vector"):
        time = seconds.get(name, 0.0)
        lines.append(", ".join([name, *(str(value) for side in (cube, vector) for value in _three(side, time, peak))]))
        totals += count * np.array([cube, vector, time])
    target.text("flops_{}.txt", "\n".join(lines) + "\n")
    (cube, cube_rate, cube_use), (vector, vector_rate, vector_use) = (_three(side, float(totals[2]), peak) for side in totals[:2].tolist())
    target.json("flops_summary_{}.json", {
        "cube_FLOPs": cube, "cube_FLOPS": cube_rate, "cube_FLOPS_Utilization": cube_use,
        "vec_FLOPs": vector, "vec_FLOPS": vector_rate, "vec_FLOPS_Utilization": vector_use,
    })


def _three(operations: float, seconds: float, peak: float) -> tuple[float, float, float]:
    """Millions of operations, billions of them a second, and percent of what the device can do (0 where that is not known)."""
    rate = operations / seconds if seconds else 0.0
    return round(operations / 1e6, 3), round(rate / 1e9, 3), round(rate / peak * 100, 3) if peak else 0.0


def scopes(flops: Table) -> dict[str, Any]:
    """Operations by scope, as MindInsight's Sankey diagram shows them: they flow from ``Total`` to the inner scopes.

    An operator outside of any scope is in none of them.

    Args:
        flops: see ``parsers.ascend.aicore.read``.

    Returns:
        ``data``: ``nodes`` (name) and ``links`` (source, target, value in millions of operations: cube and vector, all runs), and
        ``max_scope_num``: how many scopes are within each other.
    """
    links: dict[tuple[str, str], float] = defaultdict(float)
    deepest = 0
    for name, count, cube, vector in rows(flops, "name", "count", "cube", "vector"):
        path = _path(name)
        deepest = max(deepest, len(path))
        for link in pairwise(["Total", *path]):
            links[link] += count * (cube + vector) / 1e6
    names = dict.fromkeys(name for link in links for name in link)
    return {
        "data": {
            "nodes": [{"name": name} for name in names],
            "links": [{"source": source, "target": target, "value": round(value, 3)} for (source, target), value in links.items()],
        },
        "max_scope_num": deepest,
    }


def _path(name: str) -> list[str]:
    """The scopes of an operator, told apart by level and by what is the outermost, as MindSpore does: a node has one name in a diagram."""
    scopes = name.split("/")[:-1]
    outer = "recompute_Gradients" if name.startswith("Gradients/recompute_Default") else name.split("/")[0]
    return [*scopes[:1], *(f"{scope}({level}_{outer})" for level, scope in enumerate(scopes[1:], 1))]
