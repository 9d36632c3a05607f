"""From the pulls that our records hold to the stages of the input pipeline."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from summarykit.profiler.parsers.record_frames import Frames
from summarykit.profiler.recording import Table
from summarykit.shapes import Array, Ints


def pipeline(frames: Frames) -> Table:
    """The stages of the input pipeline, each before those that feed it: what MindSpore tells of its own.

    Columns: op_id (0 for the one that the training pulls from), op_type, num_workers, sizes (a list of int: items that were ready at each
    ``next``; None without a queue), capacity (0 without), interval (0: the sizes are no regular samples), parent (-1 for the first),
    children (a list); and pulled (items), total and self (ns in its ``next``, with and without the stages before it).
    """
    pulls = frames.table("pulls", "stage", "parent", "start", "end", "queued")
    stages = {entry[0]: entry for entry in frames.entries("stages", -1, "?", 0, 0)}
    seen = [stage for stage in stages if (pulls["stage"] == stage).any()]
    parents = {stage: Counter(pulls["parent"][pulls["stage"] == stage].tolist()).most_common(1)[0][0] for stage in seen}
    order = sorted(seen, key=lambda one: (_depth(one, parents), one))
    number = {stage: place for place, stage in enumerate(order)}
    rows = [_stage(stages[stage], pulls, parents, number) for stage in order]
    names = ("op_id", "op_type", "num_workers", "sizes", "capacity", "interval", "parent", "children", "pulled", "total", "self")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return Table({name: _column(column, name in ("op_type", "sizes", "children")) for name, column in zip(names, columns, strict=True)})


def _stage(entry: tuple[Any, ...], pulls: dict[str, Ints], parents: dict[int, int], number: dict[int, int]) -> tuple[Any, ...]:
    stage, name, workers, capacity = entry
    own, inner = pulls["stage"] == stage, pulls["parent"] == stage
    total, within = ((pulls["end"] - pulls["start"])[chosen].sum() for chosen in (own, inner))
    alone = total if capacity else total - within    # a thread of its own pulls for a stage with a queue
    children = [number[other] for other, parent in parents.items() if parent == stage]
    sizes = pulls["queued"][own].tolist() if capacity else None
    around = number.get(parents[stage], -1)
    return number[stage], name, workers, sizes, capacity, 0, around, sorted(children), int(own.sum()), int(total), int(alone)


def _depth(stage: int, parents: dict[int, int]) -> int:
    depth = 0
    while (stage := parents.get(stage, -1)) != -1 and depth < len(parents):
        depth += 1
    return depth


def _column(values: Any, objects: bool) -> Array:
    column = np.empty(len(values), object if objects else np.int64)
    for place, value in enumerate(values):
        column[place] = value
    return column
