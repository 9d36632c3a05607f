"""Parameters of JAX: any pytree of arrays. A metric is called ``metric(parameters, batch)`` and gives the mean over the batch.

JAX is not imported by this: whose arrays exist, that package is loaded already. All metrics are compiled as one, and several points of a
small model are computed at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import mul
from typing import Any

import numpy as np

from summarykit.landscape import samples
from summarykit.landscape.models import given_statistics
from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network, unfit
from summarykit.landscape.plane import Plane
from summarykit.lazy import loaded
from summarykit.shapes import Array, Floats

_AT_ONCE = 1 << 20    # parameters of a model of which several points are computed at once


class JaxNetwork(Network):
    """A pytree; its leaves are never changed, but replaced."""

    filter_axis = -1

    def __init__(self, network: Any) -> None:
        """See `Network`."""
        super().__init__(network)
        self._tree = sys.modules["jax"].tree_util

    @classmethod
    def owns(cls, network: Any) -> bool:
        """See `Network.owns`."""
        array, leaves_of = loaded("jax", "Array"), loaded("jax.tree_util", "tree_leaves")
        if not array or not leaves_of or not isinstance(network, (Mapping, list, tuple)):
            return False
        leaves = leaves_of(network)
        return bool(leaves) and all(isinstance(leaf, array) for leaf in leaves)

    def state(self) -> dict[str, Any]:
        """See `Network.state`."""
        paths = self._tree.tree_flatten_with_path(self.network)[0]
        return {"/".join(_key(each) for each in path): leaf for path, leaf in paths}

    def trained(self) -> list[str]:
        """See `Network.trained`: the floats."""
        return [name for name, leaf in self.state().items() if "float" in str(leaf.dtype)]

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """See `Network.load`."""
        known = self.state()
        for name, values in weights:
            if name not in known or known[name].shape != values.shape:
                raise unfit(name, values.shape, known)
            known[name] = sys.modules["jax"].numpy.asarray(values, known[name].dtype)
        self.network = self.tree(known.values())

    def tree(self, leaves: Iterable[Any]) -> Any:
        """Leaves in the order of ``state``, as a tree."""
        return self._tree.tree_unflatten(self._tree.tree_structure(self.network), list(leaves))


class JaxModel(LandscapeModel):
    """Such parameters with data and metrics."""

    network_type = JaxNetwork
    weights: JaxNetwork

    def __init__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> None:
        """See `model_of`.

        Raises:
            ValueError: statistics are to be estimated, and ``model`` is no function that does so.
        """
        super().__init__(JaxNetwork(network))
        jax = sys.modules["jax"]
        statistics = given_statistics.given(model, network, evaluation)
        self._names = tuple(metrics)
        self._batches = samples.take(dataset, evaluation.num_samples)
        self._sizes = [samples.size_of(batch) for batch in self._batches]
        together = partial(_all, jax.numpy.stack, tuple(metrics.values()))
        self._one, self._many = _compiled(together)
        self._statistics = (None, None) if statistics is None else _compiled(statistics)    # of one point, of many

    def measure(self) -> Mapping[str, float]:
        """See `LandscapeModel.measure`."""
        return self._named(self._averaged(self._one, self._statistics[0], self.weights.network))

    def survey(self, plane: Plane, points: Floats) -> list[Mapping[str, float]]:
        """See `LandscapeModel.survey`."""
        if sum(leaf.size for leaf in plane.centre.values()) > _AT_ONCE:
            return super().survey(plane, points)
        rows = [dict(plane.at(x, y)) for x, y in points.tolist()]
        known = self.weights.state()
        for name, values in rows[0].items():
            if name not in known or known[name].shape != values.shape:
                raise unfit(name, values.shape, known)
        stacked = self.weights.tree([np.stack([row[name] for row in rows]).astype(known[name].dtype) for name in known])
        return [self._named(values) for values in self._averaged(self._many, self._statistics[1], stacked)]

    def _averaged(self, function: Any, statistics: Any, parameters: Any) -> Floats:
        if statistics is not None:
            parameters = {**parameters, **given_statistics.mean(statistics, parameters, self._batches, _mean)}
        found = [np.asarray(function(parameters, batch), np.float64) for batch in self._batches]
        return np.average(found, axis=0, weights=self._sizes)

    def _named(self, values: Floats) -> Mapping[str, float]:
        return dict(zip(self._names, values.tolist(), strict=True))


def _all(stack: Any, metrics: tuple[Any, ...], parameters: Any, batch: Any) -> Any:
    return stack([metric(parameters, batch) for metric in metrics])


def _compiled(function: Any) -> tuple[Any, Any]:
    """For one tree of parameters, and for one whose leaves hold many."""
    jax = sys.modules["jax"]
    return jax.jit(function), jax.jit(jax.vmap(function, in_axes=(0, None)))


def _mean(shares: Sequence[float], *trees: Any) -> Any:
    return sys.modules["jax"].tree_util.tree_map(lambda *leaves: sum(map(mul, shares, leaves)), *trees)


def _key(entry: Any) -> str:
    """A step of a leaf's path: the key, index or attribute."""
    return str(next(getattr(entry, name) for name in ("key", "idx", "name") if hasattr(entry, name)))
