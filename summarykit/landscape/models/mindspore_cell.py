"""Cells of MindSpore, with ``Model`` and metrics as its own ``SummaryLandscape`` takes them.

MindSpore is not imported by this: whose cell exists, that package is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from summarykit.landscape import samples
from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network, unfit
from summarykit.landscape.models.mindspore_graph import Graphs
from summarykit.landscape.models.mindspore_statistics import MindSporeStatistics
from summarykit.lazy import loaded
from summarykit.shapes import Array


class MindSporeNetwork(Network):
    """A cell: its parameters, those of running statistics too; what is tied counts once."""

    @classmethod
    def owns(cls, network: Any) -> bool:
        """See `Network.owns`."""
        return isinstance(network, loaded("mindspore.nn", "Cell"))

    def state(self) -> dict[str, Any]:
        """See `Network.state`; the names are those in MindSpore's checkpoints."""
        return {parameter.name: parameter for _, parameter in self.network.parameters_and_names()}

    def trained(self) -> list[str]:
        """See `Network.trained`."""
        return [name for name, parameter in self.state().items() if parameter.requires_grad]

    def arrays(self) -> dict[str, Array]:
        """See `Network.arrays`; bfloat16 comes as float32."""
        return {name: _array(parameter) for name, parameter in self.state().items()}

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """See `Network.load`."""
        tensor, known = sys.modules["mindspore"].Tensor, self.state()
        for name, values in weights:
            if name not in known or tuple(known[name].shape) != values.shape:
                raise unfit(name, values.shape, known)
            known[name].set_data(tensor(np.ascontiguousarray(values).reshape(values.shape), known[name].dtype))


class MindSporeModel(LandscapeModel):
    """A cell with its ``Model``, data set and metrics.

    The loss is that of ``model``'s training network, without its optimizer: nothing is updated. A metric of class ``Loss`` is given the
    loss, any other ``(outputs, target)``.
    """

    network_type = MindSporeNetwork

    def __init__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> None:
        """See `model_of`."""
        super().__init__(MindSporeNetwork(network))
        self._network, self._loss, self._metrics, self._training = network, _with_loss(model), metrics, evaluation.training
        self._call = Graphs(self._loss, network)
        batches = dataset.create_tuple_iterator(num_epochs=1) if hasattr(dataset, "create_tuple_iterator") else dataset
        self._batches = samples.take(batches, evaluation.num_samples)
        fit = evaluation.batch_norm == "estimated" and not evaluation.training
        self._statistics = MindSporeStatistics(self._loss) if fit else None

    def prepare(self) -> None:
        """See `LandscapeModel.prepare`."""
        self._loss.set_train(self._training)
        self._loss.phase = self._network.phase = "train" if self._training else "eval"    # no graph compiled for another mode
        self._call.prepare(self._batches[0])

    @contextmanager
    def restored(self) -> Iterator[None]:
        """See `LandscapeModel.restored`: weights, which cells are in training mode, and their operators."""
        cells = dict.fromkeys(cell for each in (self._loss, self._network) for _, cell in each.cells_and_names())
        modes = [(cell, cell.training, cell.phase) for cell in cells]
        try:
            with super().restored():
                yield
        finally:
            self._call.back()
            for cell, training, phase in modes:
                cell.add_flags(training=training)    # the compiler reads the flag, the cell its attribute
                cell.phase = phase

    def measure(self) -> Mapping[str, float]:
        """See `LandscapeModel.measure`."""
        if self._statistics is not None:
            self._estimate(self._statistics)
        others = {name: metric for name, metric in self._metrics.items() if type(metric).__name__ != "Loss"}
        for metric in others.values():
            metric.clear()
        losses, sizes = [], []
        for batch in self._batches:
            losses.append(float(np.mean(_array(self._call(self._loss, *batch)))))
            sizes.append(samples.size_of(batch))
            outputs = self._call(self._network, *batch[:-1]) if others else None
            for metric in others.values():
                metric.update(outputs, batch[-1])
        loss = float(np.average(losses, weights=sizes))
        told = {name: loss for name in self._metrics if name not in others}
        return {"Loss": loss} | told | {name: float(np.mean(metric.eval())) for name, metric in others.items()}

    def _estimate(self, statistics: MindSporeStatistics) -> None:
        phase = self._loss.phase
        self._loss.phase = "statistics"    # a graph of its own
        try:
            statistics.estimate(lambda batch: self._call(self._loss, *batch), self._batches)
        finally:
            self._loss.phase = phase


def _with_loss(model: Any) -> Any:
    """The network that computes the loss, out of the one that also updates the weights."""
    found = model.train_network if hasattr(model, "train_network") else model
    while hasattr(found, "optimizer") and hasattr(found, "network"):
        found = found.network
    return found


def _array(value: Any) -> Array:
    value = value[0] if isinstance(value, tuple) else value
    return np.asarray(value.float().asnumpy() if str(value.dtype).lower() == "bfloat16" else value.asnumpy())
