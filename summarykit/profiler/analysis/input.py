"""Whether training waits for its input, and how much."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.profiler.recording import Table

NOTICEABLE, BOTTLENECK = 0.05, 0.20
"""Shares of the step time. The first is also where torch-tb-profiler begins to advise."""


def input_wait(phases: Table, steps: Table) -> dict[str, Any]:
    """The verdict on the input.

    Returns:
        ``verdict`` (``"no steps"``, ``"not the bottleneck"``, ``"noticeable"``, ``"bottleneck"``), ``share`` of the step time, and in ms a
        step ``mean``, ``median``, ``p99``, and ``first`` (the wait for the first batch).
    """
    if not steps.rows:
        return {"verdict": "no steps"}
    wait = phases["data wait"]
    usual = wait[1:] if len(wait) > 1 else wait    # the first batch waits for workers that start
    total = phases["total"][1:] if len(wait) > 1 else phases["total"]
    share = float(usual.sum() / total.sum())
    return {
        "verdict": "bottleneck" if share > BOTTLENECK else "noticeable" if share > NOTICEABLE else "not the bottleneck",
        "share": share,
        "mean": float(usual.mean()),
        "median": float(np.median(usual)),
        "p99": float(np.percentile(usual, 99)),
        "first": float(wait[0]),
    }
