"""What is particular to MindSpore in what is collected: its loss, the optimizer's parameters, the rates of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore
import numpy as np

from summarykit.collectors.gradient import Gradient
from summarykit.collectors.known import KnownGradients, Named
from summarykit.collectors.learning_rate import LearningRate
from summarykit.collectors.parameter import Parameter
from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams


class Loss:
    """The mean over the first of the network's outputs, as a number that is fetched when it is wanted."""

    def __init__(self, outputs: Any) -> None:
        """Take what the training step gave: the loss, or a tuple that begins with it."""
        while isinstance(outputs, (list, tuple)) and outputs:
            outputs = outputs[0]
        self._value = outputs

    def __float__(self) -> float:
        if not hasattr(self._value, "asnumpy"):
            return float(self._value)
        values = self._value.asnumpy()
        return float(values.item() if values.size == 1 else np.mean(values))    # once in ten steps a mean takes 0.1 ms


class OptimizerParameters(Parameter):
    """Histograms of the parameters that the optimizer holds, under the names that it knows them by.

    They are copied in the call, since nothing of ours runs between a step's forward pass and its update.
    """

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self._of: Any = None
        self._held: dict[str, Any] = {}

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        parameters = getattr(params.get("optimizer"), "parameters", ())
        if parameters is not self._of:    # to tell its name takes a parameter several microseconds
            self._of, self._held = parameters, {each.name: each for each in parameters}
        super().collect(CallbackParams(params, network=self._held) if self._held else params, sink)

    def held(self, values: Sequence[Any]) -> Sequence[Any]:
        """As NumPy sees them: what is copied in the end."""
        return [value.asnumpy() if value.dtype is mindspore.float32 else value for value in values]

    def end(self) -> None:
        """See `Part.end`."""
        self._of, self._held = None, {}


class KnownGiven(KnownGradients):
    """What a network holds as ``gradients``."""

    def tell(self, network: Any) -> Named:
        """See `Known.tell`."""
        return super().tell(network) if hasattr(network, "gradients") else ()


class GivenGradients(Gradient):
    """Histograms of what a network of the user's holds as ``gradients``: MindSpore's parameters hold none, and are not asked."""

    known = KnownGiven

    def missing(self, network: Any) -> None:
        """Nothing is missing."""


class GroupRates(LearningRate):
    """The rate of each group; MindSpore's ``get_lr()`` gives it again for each parameter of the group."""

    def prepare(self, params: CallbackParams) -> None:
        """See `Part.prepare`."""
        super().prepare(_one_per_group(params))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        super().collect(_one_per_group(params), sink)


def _one_per_group(params: CallbackParams) -> CallbackParams:
    optimizer: Any = params.get("optimizer")
    if not getattr(optimizer, "is_group_lr", False):
        return params
    rates = {id(rate): rate for rate in optimizer.learning_rate}
    return CallbackParams(params, optimizer=[{"lr": _now(rate, optimizer.global_step)} for rate in rates.values()])


def _now(rate: Any, updates: Any) -> Any:
    """A constant rate, or what a schedule makes of the number of updates when it is asked."""
    return (lambda: rate(updates).reshape(())) if isinstance(rate, mindspore.nn.Cell) else rate


PARTS: dict[type[Part], type[Part]] = {Parameter: OptimizerParameters, Gradient: GivenGradients, LearningRate: GroupRates}
"""The parts that take the place of others."""
