"""Modules of torch. A metric is called ``metric(outputs, target)`` and gives the mean over the batch.

torch is not imported by this: whose module exists, that package is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from summarykit.kinds.arrays import typed
from summarykit.landscape import samples
from summarykit.landscape.models import torch_points
from summarykit.landscape.models.base import Evaluation, LandscapeModel, Network, unfit
from summarykit.landscape.plane import Plane
from summarykit.lazy import loaded
from summarykit.notices import logger
from summarykit.shapes import Array, Floats

_MERGED = 1 << 17    # elements of a merged batch: enough to hide the cost of a call, small enough for the caches


class TorchNetwork(Network):
    """A module: its parameters and buffers; what is tied counts once."""

    @classmethod
    def owns(cls, network: Any) -> bool:
        """See `Network.owns`."""
        return isinstance(network, loaded("torch.nn", "Module"))

    def state(self) -> dict[str, Any]:
        """See `Network.state`."""
        return dict((*self.network.named_parameters(), *self.network.named_buffers()))

    def trained(self) -> list[str]:
        """See `Network.trained`."""
        return [name for name, value in self.network.named_parameters() if value.is_floating_point()]

    def arrays(self) -> dict[str, Array]:
        """See `Network.arrays`; bfloat16 comes as float32."""
        return {name: typed(value).data for name, value in self.state().items()}

    def load(self, weights: Iterable[tuple[str, Array]]) -> None:
        """See `Network.load`; parameters stay the same objects, their gradients untouched."""
        torch, known = sys.modules["torch"], self.state()
        with torch.no_grad():
            for name, values in weights:
                if name not in known or tuple(known[name].shape) != values.shape:
                    raise unfit(name, values.shape, known)
                known[name].copy_(torch.from_numpy(np.ascontiguousarray(values).reshape(values.shape)))


class TorchModel(LandscapeModel):
    """A module with data and metrics.

    In evaluation mode batches are joined to larger ones, which gives the same means and costs fewer calls.
    """

    network_type = TorchNetwork

    def __init__(self, model: Any, network: Any, dataset: Any, metrics: Mapping[str, Any], evaluation: Evaluation) -> None:
        """See `model_of`; the batches are moved to where the module is."""
        super().__init__(TorchNetwork(network))
        self._torch = sys.modules["torch"]
        self._network, self._metrics, self._evaluation = network, dict(metrics), evaluation
        self._device = next((each.device for each in self.weights.state().values()), None)
        batches = [samples.changed(batch, self._here) for batch in samples.take(dataset, evaluation.num_samples)]
        self._batches = batches if evaluation.training else samples.merged(batches, self._torch.cat, _MERGED)
        self._sizes = [samples.size_of(batch) for batch in self._batches]
        fit = not evaluation.training and evaluation.batch_norm == "stored" and torch_points.pays(network)
        self._together = torch_points.Together(network, _called, self._metrics, self._batches) if fit else None

    def prepare(self) -> None:
        """See `LandscapeModel.prepare`."""
        self._network.train(self._evaluation.training)

    def survey(self, plane: Plane, points: Floats) -> list[Mapping[str, float]]:
        """See `LandscapeModel.survey`; a module or metric that does not allow several points at once is measured at one after the other."""
        if self._together is not None:
            self.weights.load(plane.at(0, 0))    # for all that does not move
            try:
                rows = self._together.survey(plane, points)
            except (RuntimeError, ValueError, TypeError) as error:
                logger.info("landscape: one point after the other, since several at once failed: %s", error)
                self._together = None
            else:
                return [dict(zip(self._metrics, row, strict=True)) for row in rows.tolist()]
        return super().survey(plane, points)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """See `LandscapeModel.restored`: weights, buffers, and which modules are in training mode."""
        modes = [(module, module.training) for module in self._network.modules()]
        try:
            with super().restored():
                yield
        finally:
            for module, training in modes:
                module.training = training

    def measure(self) -> Mapping[str, float]:
        """See `LandscapeModel.measure`; waits for the device once, at the end."""
        with self._torch.inference_mode():
            if self._evaluation.batch_norm == "estimated" and not self._evaluation.training:
                self._estimate()
            totals = self._totals()
        return dict(zip(self._metrics, totals.tolist(), strict=True))

    def _totals(self) -> Any:
        """The means of all metrics, as a float64 tensor."""
        means = []
        for batch in self._batches:
            outputs, target = _called(self._network, batch)
            means.append(self._torch.stack([self._torch.as_tensor(metric(outputs, target)).double() for metric in self._metrics.values()]))
        shares = self._torch.tensor(self._sizes, dtype=self._torch.float64, device=means[0].device)
        return (self._torch.stack(means) * (shares / shares.sum())[:, None]).sum(0)

    def _estimate(self) -> None:
        """Statistics of batch normalisation from the samples: the mean over the batches, by samples."""
        normal = [module for module in self._network.modules() if getattr(module, "running_mean", None) is not None]
        kept = [module.momentum for module in normal]
        statistics = [each for module in normal for each in (module.running_mean, module.running_var)]
        means = [self._torch.zeros_like(each) for each in statistics]
        try:
            for module in normal:
                module.momentum = None    # torch's sign for: average all, since one batch may go through a module several times
                module.train()
            for batch, size in zip(self._batches, self._sizes, strict=True):
                for module in normal:
                    module.reset_running_stats()
                _called(self._network, batch)
                for mean, each in zip(means, statistics, strict=True):
                    mean.add_(each, alpha=size / sum(self._sizes))
            for mean, each in zip(means, statistics, strict=True):
                each.copy_(mean)
        finally:
            for module, momentum in zip(normal, kept, strict=True):
                module.momentum = momentum
                module.eval()

    def _here(self, leaf: Any) -> Any:
        tensor = leaf if isinstance(leaf, self._torch.Tensor) else self._torch.as_tensor(np.asarray(leaf))
        return tensor.detach().to(self._device)


def _called(network: Any, batch: Any) -> tuple[Any, Any]:
    """Outputs and target: the target is the last of a tuple; of a mapping all are arguments, and all are the target."""
    if isinstance(batch, Mapping):
        return network(**batch), batch
    if isinstance(batch, (tuple, list)) and len(batch) > 1:
        return network(*batch[:-1]), batch[-1]
    return network(batch[0] if isinstance(batch, (tuple, list)) else batch), batch
