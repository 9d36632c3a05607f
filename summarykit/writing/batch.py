"""What one ``record(step)`` hands over, and scalars of many of them in columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from summarykit.formats.scalars import ScalarBatch
from summarykit.kinds import Kind


@dataclass(frozen=True, eq=False)
class Job:
    """A frozen value whose reduction to a shape is still to be done."""

    kind: Kind
    tag: str
    snapshot: Any
    nbytes: int


class Batch(NamedTuple):
    """The values of one step: scalars by tag, and whatever needs work first."""

    step: int
    wall_time: float
    scalars: dict[str, float]
    jobs: tuple[Job, ...] | list[Job]


def size(batch: Batch) -> int:
    """Number of values."""
    return len(batch.scalars) + len(batch.jobs)


def columns(batches: Iterable[Batch]) -> ScalarBatch:
    """The scalars of all batches, in order."""
    tags: list[str] = []
    values: list[float] = []
    counts, steps, walls = [], [], []
    for batch in batches:
        tags.extend(batch.scalars)
        values.extend(batch.scalars.values())
        counts.append(len(batch.scalars))
        steps.append(batch.step)
        walls.append(batch.wall_time)
    step_column, wall_column = np.array(steps, np.int64).repeat(counts), np.array(walls, np.float64).repeat(counts)
    return ScalarBatch(tags, step_column, wall_column, np.array(values, np.float64))
