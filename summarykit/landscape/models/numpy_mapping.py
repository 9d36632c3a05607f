"""Models written in NumPy, or in anything that keeps its parameters in a mapping of arrays.

``callback_fn`` gives ``(model, network, dataset, metrics)``: the network is a mapping of arrays or an object whose attribute ``parameters``
is one; a metric is called ``metric(network, batch)`` and gives the mean over the batch. The arrays are written to in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarykit.landscape import samples
from summarykit.landscape.models import given_statistics
from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network, unfit
from summarykit.shapes import Array


class NumpyNetwork(Network):
    """A mapping of arrays."""

    @classmethod
    def owns(cls, network: Any) -> bool:
        """See `Network.owns`."""
        mapping = _mapping(network)
        return bool(mapping) and all(isinstance(each, np.ndarray) for each in mapping.values())

    def state(self) -> dict[str, Any]:
        """See `Network.state`; an array under two names counts under the first."""
        found: dict[int, tuple[str, Array]] = {}
        for name, each in _mapping(self.network).items():
            found.setdefault(id(each), (name, each))
        return dict(found.values())

    def trained(self) -> list[str]:
        """See `Network.trained`: the floats."""
        return [name for name, each in self.state().items() if each.dtype.kind == "f"]

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """See `Network.load`."""
        known = self.state()
        for name, values in weights:
            if name not in known or known[name].shape != values.shape:
                raise unfit(name, values.shape, known)
            known[name][...] = values


class NumpyModel(LandscapeModel):
    """Such a network with data and metrics."""

    network_type = NumpyNetwork

    def __init__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> None:
        """See `model_of`.

        Raises:
            ValueError: statistics are to be estimated, and ``model`` is no function that does so.
            TypeError: a metric is no function.
        """
        super().__init__(NumpyNetwork(network))
        self._statistics = given_statistics.given(model, _mapping(network), evaluation)
        if wrong := [name for name, metric in metrics.items() if not callable(metric)]:
            raise TypeError(f"callback_fn: metrics[{wrong[0]!r}] must be a function (network, batch), got {metrics[wrong[0]]!r}")
        self._network, self._metrics = network, metrics
        self._batches = samples.take(dataset, evaluation.num_samples)

    def measure(self) -> Mapping[str, float]:
        """See `LandscapeModel.measure`."""
        if self._statistics is not None:
            self.weights.load(given_statistics.mean(self._statistics, _mapping(self._network), self._batches, _mean).items())
        sizes = [samples.size_of(batch) for batch in self._batches]
        return {
            name: sum(float(metric(self._network, batch)) * size for batch, size in zip(self._batches, sizes, strict=True)) / sum(sizes)
            for name, metric in self._metrics.items()
        }


def _mean(shares: Sequence[float], *values: Any) -> Array:
    return np.average(values, axis=0, weights=shares)


def _mapping(network: Any) -> Mapping[str, Any]:
    found = network if isinstance(network, Mapping) else getattr(network, "parameters", None)
    return found if isinstance(found, Mapping) else {}
