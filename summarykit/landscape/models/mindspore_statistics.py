"""Running statistics of batch normalisation of MindSpore, taken anew from some batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from summarykit.landscape import samples
from summarykit.shapes import Array


class MindSporeStatistics:
    """The cells of batch normalisation that change with the mode; one with ``use_batch_statistics`` stays as its user wants it."""

    def __init__(self, cell: Any) -> None:
        """Find them."""
        found = [each for _, each in cell.cells_and_names() if hasattr(each, "bn_train")]
        self._cells = [each for each in found if getattr(each, "use_batch_statistics", None) is None]
        self._sums = [_summing()(each) for each in self._cells]    # the same each time: they are part of a compiled graph

    def estimate(self, run: Callable[[Any], Any], batches: Sequence[Any]) -> None:
        """Set the statistics to their means over all calls, by samples; ``run`` sends batches through the network in evaluation mode.

        A cell that is never called keeps what is stored.
        """
        totals: list[list[Any]] = [[0.0] * 3 for _ in self._sums]
        with self._training():
            for batch in batches:
                run(batch)
                size = samples.size_of(batch)
                for sums, summing in zip(totals, self._sums, strict=True):
                    sums[:] = [total + size * new for total, new in zip(sums, summing.taken(), strict=True)]
        for each, (mean, variance, calls) in zip(self._cells, totals, strict=True):
            for parameter, total in ((each.moving_mean, mean), (each.moving_variance, variance)) if calls else ():
                parameter.set_data(sys.modules["mindspore"].Tensor(total / calls, parameter.dtype))

    @contextmanager
    def _training(self) -> Iterator[None]:
        """Let these cells, and no others, behave as in training, and sum up the statistics of each call."""
        kept = [(each, each.bn_train) for each in self._cells]
        for each, summing in zip(self._cells, self._sums, strict=True):
            each.set_train(True)
            each.bn_train = summing
            summing.name_after(each.moving_mean.name)
            summing.taken()    # what is left of a batch that failed
        try:
            yield
        finally:
            for each, operator in kept:
                each.set_train(False)
                del each.bn_train    # a cell keeps operators and cells in different places
                each.bn_train = operator


@cache
def _summing() -> Any:
    """The class of cells that stand for the operator in training; MindSpore reads the source of ``construct`` and compiles it."""
    mindspore = sys.modules["mindspore"]
    base, ops, parameter = mindspore.nn.Cell, mindspore.ops, mindspore.Parameter

    class Summing(base):    # type: ignore[misc, valid-type]  # known at run time only
        """Normalises a batch by its own statistics, and adds these up: in one pass it may be called several times."""

        def __init__(self, cell: Any) -> None:
            super().__init__(auto_prefix=False)
            self.operator = type(cell.bn_train)(is_training=True, epsilon=cell.eps, momentum=1.0, data_format=cell.format)
            self.add, self.one = ops.assign_add, mindspore.Tensor(1.0, mindspore.float32)
            like = {"mean": cell.moving_mean, "variance": cell.moving_variance, "calls": self.one}
            self.sums = {name: parameter(ops.zeros_like(each), requires_grad=False) for name, each in like.items()}
            self.mean, self.variance, self.calls = self.sums.values()

        def construct(self, inputs: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
            """What the operator gives, which leaves the batch's statistics in ``mean`` and ``variance``."""
            outputs = self.operator(inputs, gamma, beta, mean, variance)
            self.add(self.mean, mean)
            self.add(self.variance, variance)
            self.add(self.calls, self.one)
            return outputs

        def name_after(self, name: str) -> None:
            """Names of its own, which the compiler asks for, and which change when it becomes part of a cell."""
            for what, each in self.sums.items():
                each.name = f"{name}.sum_of_{what}"

        def taken(self) -> list[Array]:
            """Sums of means and of variances, and the number of calls, since the last time."""
            found = [each.asnumpy().astype("f8") for each in self.sums.values()]
            for each in self.sums.values():
                each.set_data(ops.zeros_like(each))
            return found

    return Summing
