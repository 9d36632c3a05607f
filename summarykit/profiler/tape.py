"""What a window records, until it is written: rows of tables in flat lists, which cost a step next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.profiler.names import NAMES
from summarykit.shapes import Array

TYPES = {"int": "<i8", "float": "<f8", "name": "<u4", "lane": "<u4"}
"""Types of columns and how they lie in a file. In memory a ``lane`` is the number of a thread (``threading.get_ident()``)."""

SPANS = {"name": "name", "lane": "lane", "start": "int", "end": "int"}
COUNTERS = {"time": "int", "counter": "name", "value": "float"}
STEPS = {"step": "int", "start": "int", "begin": "int", "end": "int"}


class Rows:
    """The rows of one table that are yet to be written.

    Attributes:
        table: its name.
        columns: type by name.
        add: takes one row as a tuple; this is ``list.extend``, which no other thread can interrupt.
        taken: how many rows were taken so far.
    """

    def __init__(self, table: str, columns: dict[str, str]) -> None:
        """Make an empty table."""
        self.table = table
        self.columns = columns
        self.taken = 0
        self._flat: list[Any] = []
        self.add: Callable[[tuple[Any, ...]], None] = self._flat.extend

    def __len__(self) -> int:
        return len(self._flat) // len(self.columns)

    @property
    def width(self) -> int:
        """Bytes of a row in a file."""
        return sum(int(TYPES[kind][-1]) for kind in self.columns.values())

    def take(self, most: int = 1 << 16) -> dict[str, Array]:
        """Give and forget the oldest rows, as columns; threads in ``lane`` are int64 still."""
        width = len(self.columns)
        count = min(len(self), most)
        flat = self._flat[: count * width]
        del self._flat[: count * width]
        self.taken += count
        return {name: np.array(flat[place::width], _in_memory(kind)) for place, (name, kind) in enumerate(self.columns.items())}


class Tape:
    """All tables of one window.

    Attributes:
        spans: stretches of time: number of the name, thread, start and end in ns of ``perf_counter_ns``.
        steps: step, start (where the preceding one ended, or the wait for its batch began), begin (of its body), end.
        counters: time, number of the name, value.
        lists: what rows speak of by its place in a list; only ever appended to.
    """

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {"names": NAMES.entries}
        self.tables: dict[str, Rows] = {}
        self.spans = self.table("spans", SPANS)
        self.steps = self.table("steps", STEPS)
        self.counters = self.table("counters", COUNTERS)

    def table(self, name: str, columns: dict[str, str]) -> Rows:
        """The table of that name; made where it is not there yet. Columns are of the types in ``TYPES``."""
        return self.tables.setdefault(name, Rows(name, columns))

    def spans_of(self, collector: str) -> Rows:
        """Spans that a collector adds: they are written as all others are, and counted by themselves."""
        return self.tables.setdefault(f"spans of {collector}", Rows("spans", SPANS))


def _in_memory(kind: str) -> str:
    return "<i8" if kind == "lane" else TYPES[kind]
