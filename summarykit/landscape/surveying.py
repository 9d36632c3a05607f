"""Computes a surface: all points of a grid, on any executor, from wherever an earlier attempt had come to."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from dataclasses import dataclass

import numpy as np

from summarykit.landscape.cells import Cells
from summarykit.landscape.evaluating import Measured, Task, measure
from summarykit.landscape.grid import Grid
from summarykit.notices import logger
from summarykit.shapes import Floats

_BREAKDOWNS = 3    # in a row without one finished block


@dataclass(frozen=True)
class Progress:
    """How far a survey is.

    Attributes:
        done: points that are known.
        total: points in all.
        seconds_left: as it goes at present; None before the first block is done.
        known: gives the grid's losses, float64, shape ``[rows, columns]``, NaN where not known yet: rough at first, then finer.
    """

    done: int
    total: int
    seconds_left: float | None
    known: Callable[[], Floats]


Report = Callable[[Progress], None]


def survey(grid: Grid, cells: Cells, executor: Executor, task: Task, report: Report | None = None) -> None:
    """Measure what is not known yet.

    Args:
        grid: the points.
        cells: what is known; what is found is added, block by block.
        executor: where to; where its processes die, what they had is done again.
        task: how.
        report: told after each block.

    Raises:
        BrokenExecutor: processes died again and again without a result.
        Exception: whatever the user's function raised.
    """
    watch = _Watch(grid, cells, report)
    watch.tell()
    breakdowns = 0
    while missing := [number for number in range(len(grid.blocks)) if number not in cells.done]:
        before = len(cells.done)
        try:
            _round(missing, grid, cells, executor, task, watch)
        except BrokenExecutor:
            breakdowns = 1 if len(cells.done) > before else breakdowns + 1
            if breakdowns >= _BREAKDOWNS:
                raise
            logger.warning("a process that computed a landscape died; what it had is computed again")


def _round(missing: list[int], grid: Grid, cells: Cells, executor: Executor, task: Task, watch: _Watch) -> None:
    """Hand all missing blocks to the executor; on an exception those that have not begun are called off."""
    futures: dict[Future[Measured], int] = {}
    try:
        for number in missing:
            future = executor.submit(measure, task, grid.points[grid.blocks[number]])
            futures[future] = number
            if future.done():    # an executor that works at once shows progress at once
                watch.take(number, futures, future)
        for future in as_completed(list(futures)):
            watch.take(futures[future], futures, future)
    finally:
        for future in futures:
            future.cancel()


class _Watch:
    """Takes results in, and tells how far it is."""

    def __init__(self, grid: Grid, cells: Cells, report: Report | None) -> None:
        self._grid, self._cells, self._report = grid, cells, report
        self._begun, self._known = time.monotonic(), len(cells.done)

    def take(self, number: int, futures: dict[Future[Measured], int], future: Future[Measured]) -> None:
        """Add what one of the processes has measured."""
        found = future.result()
        del futures[future]
        self._cells.add(number, found.names, found.values)
        self.tell()

    def tell(self) -> None:
        """Report how far it has come."""
        if self._report is None:
            return
        total, done = len(self._grid.points), sum(len(self._grid.blocks[each]) for each in self._cells.done)
        new = len(self._cells.done) - self._known
        left = (time.monotonic() - self._begun) / new * (len(self._grid.blocks) - len(self._cells.done)) if new else None
        self._report(Progress(done, total, left, self._losses))

    def _losses(self) -> Floats:
        known = self._cells.values
        return self._grid.laid(known[:, 0] if known.size else np.full(len(known), np.nan))
