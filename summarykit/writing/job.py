"""Values that need work before they can be written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from summarykit.kinds import Kind
from summarykit.kinds.arrays import Later


@dataclass(eq=False, slots=True)    # not frozen: that would cost each value 1 µs
class Job:
    """A frozen value whose reduction to a shape is still to be done."""

    kind: Kind
    tag: str
    snapshot: Any
    nbytes: int


class Task(NamedTuple):
    """A job with its place in the run."""

    job: Job
    step: int
    wall_time: float


def is_light(job: Job) -> bool:
    """Whether reducing it is no work: a kind may say so by an attribute ``light``, and the values must be in host memory."""
    snapshot = job.snapshot
    return getattr(job.kind, "light", False) and (not isinstance(snapshot, Later) or snapshot.settled)
