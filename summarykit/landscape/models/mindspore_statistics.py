"""Running statistics of batch normalisation of MindSpore, taken anew from some batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from summarykit.landscape import samples


class MindSporeStatistics:
    """The cells of batch normalisation that change with the mode; one with ``use_batch_statistics`` stays as its user wants it."""

    def __init__(self, cell: Any) -> None:
        """Find them."""
        found = [each for _, each in cell.cells_and_names() if hasattr(each, "bn_train")]
        self._cells = [each for each in found if getattr(each, "use_batch_statistics", None) is None]

    def estimate(self, run: Callable[[Any], Any], batches: Sequence[Any]) -> None:
        """Set the statistics to their means over the batches, by samples; ``run`` sends these through the network in evaluation mode."""
        parameters = [parameter for each in self._cells for parameter in (each.moving_mean, each.moving_variance)]
        rows, sizes = [], [samples.size_of(batch) for batch in batches]
        with _training(self._cells):
            for batch in batches:
                run(batch)
                rows.append([parameter.asnumpy().astype("f8") for parameter in parameters])
        for parameter, *values in zip(parameters, *rows, strict=True):
            parameter.set_data(sys.modules["mindspore"].Tensor(np.average(values, axis=0, weights=sizes), parameter.dtype))


@contextmanager
def _training(cells: Sequence[Any]) -> Iterator[None]:
    """Let these cells, and no others, behave as in training, and keep the statistics of the last batch only."""
    kept = [(each, each.bn_train) for each in cells]
    for each, operator in kept:
        each.set_train(True)
        each.bn_train = type(operator)(is_training=True, epsilon=each.eps, momentum=1.0, data_format=each.format)
    try:
        yield
    finally:
        for each, operator in kept:
            each.set_train(False)
            each.bn_train = operator
