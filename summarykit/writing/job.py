"""Values that need work before they can be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from summarykit.kinds import Kind
from summarykit.kinds.arrays import let_go


class Job:
    """A frozen value whose reduction to a shape is still to be done."""

    __slots__ = ("kind", "nbytes", "snapshot", "tag")

    def __init__(self, kind: Kind, tag: str, snapshot: Any, nbytes: int) -> None:
        self.kind = kind
        self.tag = tag
        self.snapshot = snapshot
        self.nbytes = nbytes


class Task(NamedTuple):
    """A job with its place in the run."""

    job: Job
    step: int
    wall_time: float


class Snapshots(Protocol):
    """Frozen values. What is yet to be copied may give them only when it is iterated."""

    def __iter__(self) -> Iterator[Any]:
        """One after the other; where they are copied only now, once."""

    def let_go(self) -> None:
        """Nobody wants them any more: none that is yet to be copied may take memory."""


class Values(list[Any]):
    """Frozen values that are there."""

    __slots__ = ()

    def let_go(self) -> None:
        """See ``Snapshots``."""
        let_go(self)


class Batch(NamedTuple):
    """Frozen values of one kind and one place in the run, as they wait for the pump: an object for all of them, not for each.

    Attributes:
        kind: what froze them.
        tags: of each.
        snapshots: of each.
        sizes: of each, in bytes.
        step: theirs.
        wall_time: theirs, in seconds since the epoch.
    """

    kind: Kind
    tags: list[str]
    snapshots: Snapshots
    sizes: list[int]
    step: int
    wall_time: float

    def tasks(self) -> list[Task]:
        """What is to be done with them."""
        values = zip(self.tags, self.snapshots, self.sizes, strict=True)
        return [Task(Job(self.kind, *value), self.step, self.wall_time) for value in values]


def batch(kind: Kind, values: Mapping[str, Any], step: int, wall_time: float) -> Batch:
    """Put frozen values, given by tag, together."""
    snapshots = Values(values.values())
    try:
        sizes = [snapshot.nbytes for snapshot in snapshots]
    except Exception:  # noqa: BLE001  a kind may be anybody's code, and other values of this step are not to be lost for it
        sizes = [0] * len(snapshots)
    return Batch(kind, [*values], snapshots, sizes, step, wall_time)


def is_light(job: Job) -> bool:
    """Whether reducing it is no work: a kind may say so by an attribute ``light``, and the values must be in host memory."""
    try:
        return getattr(job.kind, "light", False) and _at_hand(job)
    except Exception:  # noqa: BLE001  a kind may be anybody's code: what is wrong with it is told when the value is reduced
        return False


def is_small(job: Job) -> bool:
    """Whether reducing it takes a fraction of a millisecond: a kind may say up to how many bytes, by an attribute ``small``."""
    try:
        return job.nbytes <= getattr(job.kind, "small", -1) and _at_hand(job)
    except Exception:  # noqa: BLE001  a kind may be anybody's code: what is wrong with it is told when the value is reduced
        return False


def _at_hand(job: Job) -> bool:
    """Whether nothing must be waited for: what may have to be says so by an attribute ``settled``."""
    return getattr(job.snapshot, "settled", True)
