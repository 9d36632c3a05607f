"""Cells of MindSpore on the CPU as compiled graphs, whatever the mode of the program, with columns for slow convolutions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape.models.mindspore_columns import Replaced, pay
from summarykit.notices import logger

_SAME = 1e-4    # relative: rounding is far below


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
        if sys.modules["mindspore"].get_context("device_target") != "CPU":
            return
        wanted = _value(self._cells[0](*batch))
        found = self._tried(batch)
        if isinstance(found, Exception) or not np.allclose(found, wanted, rtol=_SAME, atol=_SAME, equal_nan=True):
            logger.warning("landscape: the network is measured as it is, since a compiled graph gives %s, not %s", _short(found), wanted)
            self.back()

    def __call__(self, cell: Any, *inputs: Any) -> Any:
        """What a cell gives."""
        with _compiling(cell) if self._compiled else nullcontext():
            return cell(*inputs)

    def back(self) -> None:
        """Put everything back."""
        for each in self._replaced:
            each.back()
        self._replaced, self._compiled = [], False

    def _tried(self, batch: Sequence[Any]) -> Any:
        """What the first cell gives as a graph: a loss, or an exception."""
        before = _told()
        try:
            with _compiling(self._cells[0]):
                self._replaced = [Replaced(cell) for cell in self._cells] if pay() else []
            self._compiled = True
            return _value(self(self._cells[0], *batch))
        except Exception as error:    # noqa: BLE001  # the compiler raises anything; what is wrong with the cell itself was raised before
            _tidy(_told() - before)
            return error


@contextmanager
def _compiling(cell: Any) -> Iterator[None]:
    """Graph mode, and a name for the graph that no other call of the cell uses."""
    mindspore = sys.modules["mindspore"]
    mode, phase = mindspore.get_context("mode"), cell.phase
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    cell.phase = f"{phase} of a landscape"
    try:
        yield
    finally:
        mindspore.set_context(mode=mode)
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


def _value(loss: Any) -> Any:
    loss = loss[0] if isinstance(loss, tuple) else loss
    return loss.float().asnumpy()
