"""Models of Keras 3, on any backend. A metric is called ``metric(target, outputs)``, as Keras does, and gives the mean over the batch.

Keras is not imported by this: whose model exists, that package is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from summarykit.landscape import samples
from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network, unfit
from summarykit.landscape.models.keras_statistics import KerasStatistics
from summarykit.lazy import loaded
from summarykit.shapes import Array


class KerasNetwork(Network):
    """A model: its variables, running statistics and the states of its random generators too."""

    filter_axis = -1

    @classmethod
    def owns(cls, network: Any) -> bool:
        """See `Network.owns`."""
        return isinstance(network, loaded("keras", "Model"))

    def state(self) -> dict[str, Any]:
        """See `Network.state`."""
        return {variable.path: variable for variable in self.network.variables}

    def trained(self) -> list[str]:
        """See `Network.trained`."""
        return [variable.path for variable in self.network.trainable_variables]

    def arrays(self) -> dict[str, Array]:
        """See `Network.arrays`."""
        convert = sys.modules["keras"].ops.convert_to_numpy
        return {name: np.asarray(convert(variable)) for name, variable in self.state().items()}

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """See `Network.load`."""
        known = self.state()
        for name, values in weights:
            if name not in known or tuple(known[name].shape) != values.shape:
                raise unfit(name, values.shape, known)
            known[name].assign(np.ascontiguousarray(values).reshape(values.shape))


class KerasModel(LandscapeModel):
    """A model with data, ``(inputs, target)`` a batch, and metrics."""

    network_type = KerasNetwork

    def __init__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> None:
        """See `model_of`."""
        super().__init__(KerasNetwork(network))
        self._network, self._metrics, self._training = network, metrics, evaluation.training
        self._convert = sys.modules["keras"].ops.convert_to_numpy
        self._batches = samples.take(dataset, evaluation.num_samples)
        self._statistics = KerasStatistics(network) if evaluation.batch_norm == "estimated" and not evaluation.training else None

    def measure(self) -> Mapping[str, float]:
        """See `LandscapeModel.measure`."""
        if self._statistics is not None:
            self._statistics.estimate(lambda batch: self._network(batch[0], training=False), self._batches)
        sizes = [samples.size_of(batch) for batch in self._batches]
        rows = [self._measured(*batch[:2]) for batch in self._batches]
        return dict(zip(self._metrics, np.average(rows, axis=0, weights=sizes).tolist(), strict=True))

    def _measured(self, inputs: Any, target: Any) -> list[float]:
        outputs = self._network(inputs, training=self._training)
        return [float(np.mean(self._convert(metric(target, outputs)))) for metric in self._metrics.values()]
