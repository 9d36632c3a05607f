"""Several points at once, for modules of torch that are small: one call computes a block of points with ``torch.func.vmap``.

That pays where calls cost more than their arithmetic, and where all of it becomes batched products of matrices. A convolution with weights
of its own for every sample is slower than one after the other, so modules with convolutions or recurrent layers are left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from summarykit.landscape import samples
from summarykit.landscape.grid import BLOCK
from summarykit.landscape.plane import Plane
from summarykit.shapes import Array, Floats

_LARGEST = 1 << 20    # parameters
_SLOW = ("Conv", "RNN", "LSTM", "GRU")


def pays(network: Any) -> bool:
    """Whether several points at once are faster than one after the other."""
    if not hasattr(sys.modules["torch"], "func"):    # before torch 2.0
        return False
    size = sum(parameter.numel() for parameter in network.parameters())
    return size <= _LARGEST and not any(name in type(module).__name__ for module in network.modules() for name in _SLOW)


class Together:
    """Measures blocks of points of a module that stays as it is."""

    def __init__(self, network: Any, call: Any, metrics: Mapping[str, Any], batches: list[Any]) -> None:
        """Prepare.

        Args:
            network: the module, in evaluation mode.
            call: gives outputs and target of a function of the module's inputs, and a batch.
            metrics: by name.
            batches: the samples.
        """
        self._torch = sys.modules["torch"]
        self._network, self._call, self._metrics, self._batches = network, call, metrics, batches
        self._sizes = [samples.size_of(batch) for batch in batches]
        self._many = self._torch.func.vmap(self._one, in_dims=(0, None))

    def survey(self, plane: Plane, points: Floats) -> Floats:
        """The metrics at some points: float64, shape ``[points, metrics]``."""
        stacked = self._stacked(plane, points)
        with self._torch.no_grad():
            found = [self._many(stacked, batch).double().cpu().numpy() for batch in self._batches]
        return np.average(found, axis=0, weights=self._sizes)[: len(points)]

    def _one(self, weights: Mapping[str, Any], batch: Any) -> Any:
        """All metrics of one point and one batch."""

        def network(*args: Any, **kwargs: Any) -> Any:
            """The network with these weights."""
            return self._torch.func.functional_call(self._network, weights, args, kwargs)

        outputs, target = self._call(network, batch)
        return self._torch.stack([metric(outputs, target) for metric in self._metrics.values()])

    def _stacked(self, plane: Plane, points: Floats) -> dict[str, Any]:
        """The parameters that move, each with a first axis that counts the points; a block is filled up to the usual number."""
        filled = np.concatenate([points, np.repeat(points[-1:], BLOCK - len(points), axis=0)])
        parameters = dict(self._network.named_parameters())
        rows: dict[str, list[Array]] = {name: [] for name in (*plane.directions[0], *plane.directions[1]) if name in parameters}
        for x, y in filled.tolist():
            for name, value in plane.at(x, y):
                if name in rows:
                    rows[name].append(value)
        tensors = {name: self._torch.from_numpy(np.stack(values)) for name, values in rows.items()}
        return {name: tensor.to(parameters[name].device, parameters[name].dtype) for name, tensor in tensors.items()}
