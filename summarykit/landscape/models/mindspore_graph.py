"""Cells of MindSpore on the CPU as compiled graphs, whatever the mode of the program, with columns for slow convolutions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape.models.mindspore_columns import Replaced, pay, replaceable
from summarykit.notices import logger

_SAME, _NOTHING = 1e-4, 1e-6    # relative, and of a loss near zero: rounding of float32 is far below
_SAME_HALF = 2**-8    # where cells compute in float16: four units in the last place


class Graphs:
    """Calls cells: as graphs where that gives what the cells themselves give, else as they are."""

    def __init__(self, *cells: Any) -> None:
        """Remember them.

        Args:
            cells: the first gives a loss for a batch; the others may be parts of it.
        """
        self._cells = cells
        self._replaced: list[Replaced] = []
        self._compiled = False

    def prepare(self, batch: Sequence[Any]) -> None:
        """Try graphs with a batch: inputs of the first cell."""
        mindspore = sys.modules["mindspore"]
        if mindspore.get_context("device_target") != "CPU":
            return
        ways = [True] if any(map(replaceable, self._cells)) and _columns_pay() else []    # with columns
        if mindspore.get_context("mode") != mindspore.GRAPH_MODE:    # else they are graphs already
            ways.append(False)
        if not ways:
            return
        wanted, same = _value(self._cells[0](*batch)), _exactness(self._cells[0])
        for columns in ways:
            found = self._tried(batch, columns)
            if not isinstance(found, Exception) and np.allclose(found, wanted, rtol=same, atol=_NOTHING, equal_nan=True):
                return
            self.back()
        logger.warning("landscape: the network is measured as it is, since a compiled graph gives %s, not %s", _short(found), wanted)

    def __call__(self, cell: Any, *inputs: Any) -> Any:
        """What a cell gives."""
        with _compiling(cell, "columns" if self._replaced else "a graph") if self._compiled else nullcontext():
            return cell(*inputs)

    def back(self) -> None:
        """Put everything back."""
        for each in self._replaced:
            each.back()
        self._replaced, self._compiled = [], False

    def _tried(self, batch: Sequence[Any], columns: bool) -> Any:
        """What the first cell gives as a graph: a loss, or an exception."""
        before = _told()
        try:
            for cell in self._cells if columns else ():
                self._replaced.append(Replaced(cell))
            self._compiled = True
            return _value(self(self._cells[0], *batch))
        except Exception as error:    # noqa: BLE001  # the compiler raises anything; what is wrong with the cell itself was raised before
            _tidy(_told() - before)
            return error


def _columns_pay() -> bool:
    with _graph_mode():
        return pay()


@contextmanager
def _graph_mode() -> Iterator[None]:
    mindspore = sys.modules["mindspore"]
    mode = mindspore.get_context("mode")
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    try:
        yield
    finally:
        mindspore.set_context(mode=mode)


@contextmanager
def _compiling(cell: Any, way: str) -> Iterator[None]:
    """Graph mode, and a name for the graph that no other call of the cell uses."""
    phase = cell.phase
    cell.phase = f"{phase} of a landscape, as {way}"
    try:
        with _graph_mode():
            yield
    finally:
        cell.phase = phase


def _told() -> set[Path]:
    """Files that the compiler leaves in the working directory where it fails."""
    return set(Path().glob("rank_*/om/analyze_fail.ir"))


def _tidy(files: set[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
        with suppress(OSError):    # there may be more in it
            file.parent.rmdir()
            file.parent.parent.rmdir()


def _short(found: Any) -> Any:
    return str(found).strip().partition("\n")[0] if isinstance(found, Exception) else found


def _exactness(cell: Any) -> float:
    """How far the same computation in another order may be off, relative, by the type that a cell or a part of it computes in."""
    return _SAME_HALF if any(part.get_flags().get("fp16") for _, part in cell.cells_and_names()) else _SAME


def _value(loss: Any) -> Any:
    loss = loss[0] if isinstance(loss, tuple) else loss
    return loss.float().asnumpy()
