"""What the framework says of operators: which task is which operator, of what type, with which inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from summarykit.profiler.parsers.rows import table
from summarykit.profiler.recording import Table
from summarykit.shapes import Array, Ints

UNIQUE_FROM = 25_000       # task numbers from here on are unique without their stream, in files of the text generation
SUBGRAPHS = ("Default", "Gradients")
QUEUE_INITIALISER = "Default/InitDataSetQueue"


@dataclass(frozen=True)
class Task:
    """One task of an operator: its names are those the hardware's log uses."""

    operator: str
    block_dim: int
    task: int
    stream: int


@dataclass(frozen=True)
class Operator:
    """One operator of the graph; ``info`` maps ``input_0`` … ``output_0`` … to format, data_type and shape."""

    name: str
    type: str
    info: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Framework:
    """Tasks, operators and points of one device.

    Attributes:
        tasks: in the order of the files.
        operators: in the order of the files.
        points: tag of a point of the step -> operator there; 1 forward start, 2 backward end, then pairs around communication.
        names: the operators' full names; those that tasks have come first.
    """

    def __init__(self, tasks: Sequence[Task] = (), operators: Sequence[Operator] = (), points: Mapping[int, str] | None = None, *,
                 unique_from: int = UNIQUE_FROM) -> None:
        """Bring together what was read.

        Args:
            tasks: see there.
            operators: see there.
            points: see there.
            unique_from: task numbers from here on are looked up without their stream.
        """
        self.tasks, self.operators, self.points = list(tasks), list(operators), dict(points or {})
        self.names = list(dict.fromkeys([*(each.operator for each in tasks), *(each.name for each in operators)]))
        self._unique_from = unique_from
        self._keys, self._indices = self._table()
        self._direct = np.full(1 << 16, -1, np.int64)
        alone = self._keys < len(self._direct)
        self._direct[self._keys[alone]] = self._indices[alone]

    def _table(self) -> tuple[Ints, Ints]:
        number = {name: index for index, name in enumerate(self.names)}
        keys = self._key(np.array([each.stream for each in self.tasks], np.int64), np.array([each.task for each in self.tasks], np.int64))
        latest = {key: number[each.operator] for key, each in zip(keys.tolist(), self.tasks, strict=True)}
        return np.array(sorted(latest), np.int64), np.array([latest[key] for key in sorted(latest)], np.int64)

    def _key(self, stream: Array, task: Array) -> Ints:
        wide = task.astype(np.int64)
        return np.where(wide < self._unique_from, (stream.astype(np.int64) + 1) << 40 | wide, wide)

    def find(self, stream: Array, task: Array) -> Ints:
        """The operator of each task: index into ``names``, -1 where the framework knows none.

        Args:
            stream: of each task, shape ``[n]``.
            task: its number, shape ``[n]``.
        """
        if not len(self._keys):
            return np.full(len(task), -1, np.int64)
        found = self._direct[task & 0xFFFF]
        shared = np.flatnonzero(task < self._unique_from)
        if len(shared):
            keys = self._key(stream[shared], task[shared])
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            found[shared] = np.where(self._keys[places] == keys, self._indices[places], -1)
        return found

    @property
    def counts_on(self) -> bool:
        """Whether it numbers tasks beyond the 16 bits that the hardware's log has."""
        return any(each.task > 0xFFFF for each in self.tasks)

    @property
    def skips_first_step(self) -> bool:
        """Whether the first step only filled the data queue."""
        return any(name.startswith(QUEUE_INITIALISER) for name in self.names)

    def types(self) -> dict[str, str]:
        """Type of each operator by its full name; where the graph does not say it, what its name says."""
        said = {each.name: each.type for each in self.operators if each.type}
        return {name: said.get(name) or type_of(name) for name in self.names}

    def table(self) -> Table:
        """A row for each operator of the graph, then one for each operator that only tasks know.

        Columns: task_id, stream_id, block_dim (int, or None without a task), full_op_name, op_name, op_type, subgraph (texts or None),
        op_info (dict, or None where the graph does not have the operator).
        """
        tasks = {each.operator: each for each in self.tasks}
        rows = [_row(tasks.pop(each.name, None), each.name, each) for each in self.operators]
        rows += [_row(task, name, None) for name, task in tasks.items()]
        names = ("task_id", "stream_id", "block_dim", "full_op_name", "op_name", "op_type", "subgraph", "op_info")
        return table(rows, **dict.fromkeys(names, object))


def _row(task: Task | None, name: str, operator: Operator | None) -> tuple[Any, ...]:
    numbers = (task.task, task.stream, task.block_dim) if task else (None, None, None)
    told = (short(name), operator.type, subgraph(name), operator.info) if operator else (None, None, None, None)
    return (*numbers, name, *told)


def short(full_name: str) -> str:
    """The operator's own name: the last part of its path; of fused operators all of theirs, with ``+`` between."""
    return "+".join(part.rsplit("/", 1)[-1] for part in full_name.split("+"))


def subgraph(full_name: str) -> str | None:
    """``Default`` or ``Gradients``, where the path begins so."""
    first = full_name.split("/", 1)[0]
    return first if first in SUBGRAPHS else None


def type_of(full_name: str) -> str:
    """What a name says of the type: ``Mul`` of ``Default/x/Mul-op29``."""
    return short(full_name).split("-", 1)[0]
