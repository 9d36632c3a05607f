"""The stages of the input pipeline: what each takes, how full its queue is, and which one holds the others up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Array, Floats

_FALL = 0.1
"""How much fuller a stage's source must be than its own queue for the stage to be what is slow."""


def pipeline(recording: Recording) -> Table:
    """The stages, from what the training pulls from to what reads the data.

    Returns:
        ``stage``, ``name``, ``workers``, ``source`` (the stages it pulls from, as text), ``items``, ``time`` (ms an item in this stage
        alone, divided by its workers; NaN where only queues were watched), ``queue`` (mean number of items ready), ``capacity``, ``used``
        (share of it; NaN without a queue), ``empty`` (share of the looks at the queue that found none), ``slowest`` (bool: one, or none).
    """
    found = recording.tables.get("pipeline", Table())
    if not found.rows:
        return Table()
    sizes = [np.asarray([] if each is None else each, float) for each in found["sizes"]]
    queue, empty = np.array([_mean(each) for each in sizes]), np.array([_mean(each == 0) for each in sizes])
    capacity, workers = found["capacity"].astype(float), found["num_workers"].astype(float)
    used = np.where(capacity > 0, queue / np.maximum(capacity, 1), np.nan)
    unknown = np.full(found.rows, np.nan)
    items = found.get("pulled", np.zeros(found.rows, np.int64))
    time = found["self"] / 1e6 / np.maximum(items, 1) / np.maximum(workers, 1) if "self" in found else unknown
    return Table(
        stage=found["op_id"],
        name=found["op_type"],
        workers=found["num_workers"],
        source=np.array([", ".join(map(str, children or ())) for children in found["children"]], object),
        items=items,
        time=time,
        queue=queue,
        capacity=found["capacity"],
        used=used,
        empty=empty,
        slowest=_slowest(found["op_id"], found["children"], time, used),
    )


def _slowest(stages: Array, children: Array, time: Floats, used: Floats) -> Array:
    """By times where they are known, else the first stage whose queue is emptier than that of what it pulls from."""
    chosen = np.zeros(len(stages), np.bool_)
    if np.isfinite(time).any():
        chosen[int(np.nanargmax(time))] = bool(np.nanmax(time) > 0)
        return chosen
    place = {int(stage): row for row, stage in enumerate(stages.tolist())}
    for row, below in enumerate(children):
        fullest = max((_full(used, place, int(child), children) for child in below or ()), default=1.0)
        if np.isfinite(used[row]) and fullest - used[row] > _FALL:
            chosen[row] = True
            break
    return chosen


def _full(used: Floats, place: dict[int, int], stage: int, children: Array) -> float:
    """How full the queue of a stage is, or of the first one with a queue behind it; 1 where there is none: the data are there."""
    row: int | None = place.get(stage)
    for _ in range(len(place)):
        if row is None:
            return 1.0
        if np.isfinite(used[row]):
            return float(used[row])
        below: Sequence[int] = children[row] or ()
        row = place.get(int(below[0])) if below else None
    return 1.0


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")
