"""How long each operator takes as MindSpore's own parser counts it, beside which the true mean stands.

Upstream joins starts and ends that are neighbours in the file and bear the same operator's name, and divides the sum by the number of
runs under the task number that it saw first: an operator that runs under several task numbers is overstated. Its pages show that figure.
"""

from __future__ import annotations

import numpy as np

from summarykit.profiler.parsers.ascend.framework import Framework
from summarykit.profiler.parsers.ascend.hwts import TASK_END, TASK_START, Block
from summarykit.profiler.parsers.ascend.ticks import TICKS_PER_MILLISECOND
from summarykit.shapes import Array, Floats, Ints

_NEVER = np.iinfo(np.int64).max


class OpTimes:
    """Adds up block after block.

    Attributes:
        first: int64, shape ``[operators]``: where each operator's first run stands among all runs; the largest int64 where it has none.
        total: float64 ms, shape ``[operators]``.
        runs: int64, shape ``[operators]``: all runs.
        counted: int64, shape ``[operators]``: those that upstream counts.
        stream: int64, shape ``[operators]``: of the first run.
        min_cycle: int64 ticks: the earliest start of an operator whose name does not begin with ``assign``; None before any.
    """

    def __init__(self, framework: Framework) -> None:
        """Begin with no run of any operator.

        Args:
            framework: knows which task is which operator.
        """
        count = len(framework.names)
        self._framework = framework
        self._assigns = np.array([name.startswith("assign") for name in framework.names], bool)
        self._task = np.full(count, -1, np.int64)
        self._seen = 0
        self._carry: tuple[Array, ...] = ()
        self.first = np.full(count, _NEVER)
        self.total = np.zeros(count)
        self.runs, self.counted, self.stream = (np.zeros(count, np.int64) for _ in range(3))
        self.min_cycle: int | None = None

    def feed(self, block: Block) -> None:
        """Add a block."""
        operator = self._framework.find(block.stream, block.task)
        rows = (operator >= 0) & (block.kind <= TASK_END)
        columns: tuple[Array, ...] = (operator[rows], block.kind[rows], block.task[rows], block.stream[rows], block.time[rows])
        if self._carry:
            columns = tuple(map(np.concatenate, zip(self._carry, columns, strict=True)))
        operator, kind, task, stream, time = columns
        self._carry = tuple(column[-1:] for column in columns) if len(kind) and kind[-1] == TASK_START else ()
        first = np.flatnonzero((kind[:-1] == TASK_START) & (kind[1:] == TASK_END) & (operator[:-1] == operator[1:]))
        self._add(operator[first], task[first], stream[first], time[first], time[first + 1] - time[first])

    def _add(self, operator: Ints, task: Array, stream: Array, start: Ints, duration: Ints) -> None:
        if not len(operator):
            return
        unseen = np.flatnonzero(self._task[operator] < 0)
        if len(unseen):
            new, place = np.unique(operator[unseen], return_index=True)
            place = unseen[place]
            self._task[new], self.stream[new], self.first[new] = task[place], stream[place], place + self._seen
        np.add.at(self.total, operator, duration / TICKS_PER_MILLISECOND)     # one after the other, as upstream adds: the same last digit
        np.add.at(self.runs, operator, 1)
        np.add.at(self.counted, operator, (task == self._task[operator]).astype(np.int64))
        self._seen += len(operator)
        starts = start[~self._assigns[operator]]
        if len(starts):
            self.min_cycle = min(int(starts.min()), _NEVER if self.min_cycle is None else self.min_cycle)

    def order(self) -> Ints:
        """The operators that ran, in the order of their first runs."""
        order = np.argsort(self.first, kind="stable")
        return order[: int((self.first < _NEVER).sum())]

    @property
    def average(self) -> Floats:
        """Milliseconds of each operator as upstream says them; 0 where it never ran."""
        return self.total / np.maximum(self.counted, 1)
