"""Values that need work before they can be written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from summarykit.kinds import Kind


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
    return getattr(job.kind, "light", False) and _at_hand(job)


def is_small(job: Job) -> bool:
    """Whether reducing it takes a fraction of a millisecond: a kind may say up to how many bytes, by an attribute ``small``."""
    return job.nbytes <= getattr(job.kind, "small", -1) and _at_hand(job)


def _at_hand(job: Job) -> bool:
    """Whether nothing must be waited for: what may have to be says so by an attribute ``settled``."""
    return getattr(job.snapshot, "settled", True)
