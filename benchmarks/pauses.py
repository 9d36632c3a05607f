"""How long the training loop is held up: the longest pauses of a tight loop that only records scalars."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from contestants import WRITERS
from harness import Options, Row, main, run

TAGS = 50
SLOW = {"torch": 20, "tensorboardX": 20, "MindSpore": 20}
"""How many times fewer steps the slow ones get."""


def measure(contestant: Any, directory: str, steps: int) -> dict[str, Any]:
    """Wall seconds of each step; the hundredth and the thousandth part that took longest."""
    writer = contestant.Writer(directory)
    taken = np.empty(steps)
    for step in range(steps):
        items = [(f"train/metric_{place:02d}", contestant.Writer.number((step + place) / 7)) for place in range(TAGS)]
        begun = time.perf_counter()
        writer.log(items, step)
        taken[step] = time.perf_counter() - begun
    writer.close()
    return {"most": float(np.quantile(taken, 0.999)), "usual": float(np.median(taken))}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on pauses."""
    steps = options.count(20_000)
    results = run("pauses", {name: {"steps": max(20, steps // SLOW.get(name, 1))} for name in WRITERS}, options)
    what = f"a step of {TAGS} scalars, as often as the loop can, {steps * TAGS:,} in all: wall ms of the caller"
    return [
        Row(f"{what}, median", results.figures("usual", 1e3), "pauses.py"),
        Row(f"{what}, 99.9th percentile", results.figures("most", 1e3), "pauses.py"),
    ], ["pauses.py: the slow libraries get a twentieth of the steps"]


if __name__ == "__main__":
    main(rows, __doc__)
