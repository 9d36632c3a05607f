"""What the trainer and its workers tell each other."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from summarykit.kinds import KINDS
from summarykit.kinds.arrays import Typed
from summarykit.shapes import Array, Point
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


class Plain(NamedTuple):
    """An array, as what costs little to pickle: NumPy's own way takes each of a model's 20 µs, since nothing of it is in a cache.

    Attributes:
        name: of the recorded dtype.
        own: nobody else can change it.
        dtype: in which it is here, as ``numpy.dtype`` takes it.
        shape: lengths of the axes.
        values: where they lie, or themselves.
    """

    name: str
    own: bool
    dtype: str
    shape: tuple[int, ...]
    values: Place | bytes


class Pickled(NamedTuple):
    """Anything else: pickled, and where its large arrays lie."""

    content: bytes
    places: list[Place]


class Do(NamedTuple):
    """To the worker: a task.

    Attributes:
        number: its place among all tasks of the writer.
        kind: name of the kind of its value.
        tag: of the value.
        nbytes: of the value.
        step: of the task.
        wall_time: of the task.
        now: False where the trainer does it by itself, so that it is the worker's only if the trainer dies.
        snapshot: the frozen value.
    """

    number: int
    kind: str
    tag: str
    nbytes: int
    step: int
    wall_time: float
    now: bool
    snapshot: Plain | Pickled


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


def pack(number: int, task: Task, locate: Callable[[Array], Place | None], *, now: bool) -> Do:
    """Say what is to be done; ``locate`` tells where an array lies, and None where its values have to travel in the message.

    Raises:
        Exception: it cannot be pickled, such as a value that lies on a device.
    """
    kind, tag, snapshot, nbytes = task.job.kind.name, task.job.tag, task.job.snapshot, task.job.nbytes
    plain = snapshot.__class__ is Typed and snapshot.data.flags.c_contiguous
    packed = _plain(snapshot, locate) if plain else _pickled(snapshot, locate)
    return Do(number, kind, tag, nbytes, task.step, task.wall_time, now, packed)


def unpack(order: Do, read: Callable[[Place], memoryview]) -> Task:
    """The task again; ``read`` gives what lies at a place.

    Raises:
        Exception: something that it is made of cannot be imported here.
    """
    packed = order.snapshot
    snapshot = _array(packed, read) if isinstance(packed, Plain) else pickle.loads(packed.content, buffers=map(read, packed.places))
    return Task(Job(KINDS.get(order.kind), order.tag, snapshot, order.nbytes), order.step, order.wall_time)


def _plain(snapshot: Typed, locate: Callable[[Array], Place | None]) -> Plain:
    data = snapshot.data
    return Plain(snapshot.dtype, snapshot.own, data.dtype.str, data.shape, locate(data) or data.tobytes())


def _array(plain: Plain, read: Callable[[Place], memoryview]) -> Typed:
    values = plain.values
    data: Array = np.ndarray(plain.shape, plain.dtype, values if isinstance(values, bytes) else read(values))
    return Typed(data, plain.name, plain.own)


def _pickled(snapshot: Any, locate: Callable[[Array], Place | None]) -> Pickled:
    places: list[Place] = []

    def travels(buffer: pickle.PickleBuffer) -> bool:
        """Whether a buffer goes with the message: it lies nowhere where it can be left."""
        place = locate(np.frombuffer(buffer.raw(), np.uint8))
        if place is not None:
            places.append(place)
        return place is None

    return Pickled(pickle.dumps(snapshot, 5, buffer_callback=travels), places)
