"""What the trainer and its workers tell each other."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from summarykit.kinds import KINDS
from summarykit.shapes import Point
from summarykit.writing.job import Job, Task
from summarykit.writing.records import Records


class Place(NamedTuple):
    """A piece of a ring."""

    ring: int
    start: int
    nbytes: int


class Hello(NamedTuple):
    """To the worker, first: how its trainer writes (``WriterOptions``)."""

    options: Any


class Share(NamedTuple):
    """To the worker: a ring, whose descriptor comes along."""

    ring: int
    capacity: int


class Withdraw(NamedTuple):
    """To the worker: a ring that is used no more."""

    ring: int


class Do(NamedTuple):
    """To the worker: a task.

    Attributes:
        number: its place among all tasks of the writer.
        content: the task, pickled; its large arrays are elsewhere.
        places: where those lie.
        now: False where the trainer does it by itself, so that it is the worker's only if the trainer dies.
    """

    number: int
    content: bytes
    places: list[Place]
    now: bool


class Settled(NamedTuple):
    """To the worker: all tasks of lower numbers are in the file. It forgets them, and their memory is used again."""

    before: int


class End(NamedTuple):
    """To the worker: go."""


class Ready(NamedTuple):
    """To the trainer: all is imported."""


class Done(NamedTuple):
    """To the trainer: what became of a task.

    Attributes:
        number: of the task.
        records: the framed record for each format, or None where it is not for that; None where ``point`` or ``reason`` tells.
        point: for the trainer to lay out.
        reason: why there is neither; empty where the task can only be done by the trainer.
    """

    number: int
    records: Records | None = None
    point: Point | None = None
    reason: str = ""


def pack(task: Task, locate: Callable[[memoryview], Place | None]) -> tuple[bytes, list[Place]]:
    """A task as ``content`` and ``places``; ``locate`` tells where a buffer lies, and None where it has to travel in the content.

    Raises:
        Exception: it cannot be pickled, such as a value that lies on a device.
    """
    places: list[Place] = []

    def travels(buffer: pickle.PickleBuffer) -> bool:
        place = locate(buffer.raw())
        if place is not None:
            places.append(place)
        return place is None

    job = task.job
    content = (job.kind.name, job.tag, job.snapshot, job.nbytes, task.step, task.wall_time)
    return pickle.dumps(content, 5, buffer_callback=travels), places


def unpack(content: bytes, buffers: Sequence[Any]) -> Task:
    """The task again; its arrays lie in ``buffers``, one for each place.

    Raises:
        Exception: something that it is made of cannot be imported here.
    """
    kind, tag, snapshot, nbytes, step, wall_time = pickle.loads(content, buffers=buffers)
    return Task(Job(KINDS.get(kind), tag, snapshot, nbytes), step, wall_time)
