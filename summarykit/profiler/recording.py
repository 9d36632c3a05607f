"""What every parser gives and every analysis takes: one recording in columns, whoever made it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from summarykit import lazy
from summarykit.shapes import Array, Ints

if TYPE_CHECKING:
    import pandas


class Category(IntEnum):
    """What a span is, in whichever words its writer says it."""

    OTHER = 0
    STEP = 1
    PHASE = 2          # of a step: data wait, transfer, forward, backward, optimizer, communication, logging
    HOST_OP = 3        # an operator on the host: cpu_op, AI CPU
    RUNTIME = 4        # a call into a driver: cudaLaunchKernel
    KERNEL = 5         # an operator on the device
    MEMCPY = 6
    MEMSET = 7
    COMMUNICATION = 8
    PYTHON = 9         # a Python function, or a line seen by the sampler
    DATA = 10          # a stage of the input pipeline
    GC = 11
    OVERHEAD = 12      # the profiler's own
    USER = 13          # annotations


@dataclass(frozen=True)
class Lane:
    """A row of the timeline: a thread, a stream of a device, a worker.

    Attributes:
        process: its number.
        thread: its number, or that of the stream.
        title: what a person reads.
        device: True where it belongs to an accelerator.
        rank: of the process in a distributed run.
    """

    process: int
    thread: int
    title: str = ""
    device: bool = False
    rank: int = 0


@dataclass(eq=False)
class Spans:
    """Stretches of time, as columns of one length; texts are kept once, in ``names``.

    A recording may have ten million of them: what fits is kept in fewer bytes than are said here, so widen a column before it is reckoned
    with alone.

    Attributes:
        start: int64 nanoseconds on the recording's clock.
        duration: int64 or int32 nanoseconds, 0 for an instant.
        name: int32 or int16 index into ``names``.
        category: uint8, see ``Category``.
        lane: int32 or int16 index into ``lanes``.
        correlation: int64, the same number for a launch and its kernel; -1 where there is none.
        names: the texts.
        lanes: the rows.
    """

    start: Ints
    duration: Ints
    name: Array
    category: Array
    lane: Array
    correlation: Ints
    names: list[str] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.start)

    def of(self, *categories: Category) -> Array:
        """Which spans are of these categories: bool, shape ``[n]``."""
        chosen = np.zeros(256, np.bool_)
        chosen[list(categories)] = True
        return chosen[self.category]

    def take(self, rows: Ints) -> Spans:
        """Those at these places."""
        return Spans(
            self.start[rows], self.duration[rows], self.name[rows], self.category[rows], self.lane[rows], self.correlation[rows],
            self.names, self.lanes,
        )


class Table(dict[str, Array]):
    """Columns of one length by name, in order; texts are object arrays."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return lazy.optional("pandas", extra="pandas", purpose="to_pandas()").DataFrame(dict(self))


@dataclass(eq=False)
class Recording:
    """One recording of one process (or one device).

    Attributes:
        source: which parser read it: ``"summarykit"``, ``"kineto"``, ``"jax"``, ``"ascend"``, ``"mindspore"``, ``"gpu"``.
        path: where it was read.
        spans: what ran when.
        tables: what is no span, by name. Common ones, of which a recording has those it knows:
            ``steps`` (step int64, start, end int64 ns; fp_start, bp_end int64 ns or -1; reported step numbers are the training's own),
            ``phases`` (step, phase object, start, duration int64 ns),
            ``counters`` (time int64 ns, counter object, value float64): CPU, memory, queue sizes, GPU …,
            ``operators`` (name, type object, side object "host" or "device", count int64, total float64 ms …): where there are no spans,
            ``collectives`` (sequence in its group, group int64, operation object, start, end int64 ns: arrival and departure of this rank),
            ``samples`` (time int64 ns, lane, stack int64) and ``stacks`` (parent int64: the caller's place here or -1, frame object),
            ``memory`` (time int64 ns, device int64 (-1: the host), bytes, allocated, reserved float64): what was taken and given back,
            ``input_shapes`` (name, shapes, types object, count int64): with which inputs operators were called,
            ``pipeline`` (op_id, parent int64, op_type object, num_workers, capacity int64, sizes object …): stages of the input.
        rank: of the process in a distributed run.
        world_size: number of its processes.
        clock_offset: nanoseconds to add to a time for the wall clock (epoch); None where unknown.
        meta: what the writer says of itself and of the machine.
        skipped: what could not be read: reason -> count.
    """

    source: str
    path: Path
    spans: Spans
    tables: dict[str, Table] = field(default_factory=dict)
    rank: int = 0
    world_size: int = 1
    clock_offset: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
