"""What is particular to MindSpore in what is collected: its loss, the optimizer's parameters, the rates of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore
import numpy as np

from summarykit.collectors.gradient import Gradient
from summarykit.collectors.gradient_norm import GradientNorm
from summarykit.collectors.known import KnownGradients
from summarykit.collectors.learning_rate import LearningRate
from summarykit.collectors.metric import Metric
from summarykit.collectors.parameter import Parameter, chosen
from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams


class Loss:
    """The mean over the first of the network's outputs, as a number that is fetched when it is wanted."""

    def __init__(self, outputs: Any) -> None:
        """Take what the training step gave: the loss, or a tuple that begins with it."""
        while isinstance(outputs, (list, tuple)) and outputs:
            outputs = outputs[0]
        self.value = outputs

    def __float__(self) -> float:
        number = at_hand(self)
        if number is self:
            number = np.mean(self.value.asnumpy()) if hasattr(self.value, "asnumpy") else self.value
        return float(number)


def at_hand(value: Any) -> Any:
    """The number in a tensor of one element, or in a loss that is one; anything else as it is.

    By way of an array, which is how a number is got of any framework, it takes five times as long, a mean longer yet.
    """
    tensor = value.value if isinstance(value, Loss) else value
    if not isinstance(tensor, mindspore.Tensor) or tensor.size != 1:
        return value
    try:
        return tensor.item()
    except RuntimeError:    # of what should have computed it: who records it says what is wrong
        return value


class AtHand:
    """A sink that hands on numbers as such: they go the short way to the record."""

    def __init__(self, sink: Sink) -> None:
        """Take the one behind it."""
        self._sink = sink

    def add(self, kind: str, tag: str, value: Any, **options: Any) -> None:
        """See `Sink.add`."""
        self._sink.add(kind, tag, at_hand(value), **options)


class Metrics(Metric):
    """What is reported: the loss."""

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        super().collect(params, AtHand(sink))


class OptimizerParameters(Parameter):
    """Histograms of the parameters that the optimizer holds, under the names that it knows them by.

    They are copied in the call, since nothing of ours runs between a step's forward pass and its update.
    """

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self._of: Any = None
        self._chosen: list[tuple[str, Any, bool]] = []

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        parameters = getattr(params.get("optimizer"), "parameters", ())
        if not parameters:
            super().collect(params, sink)
            return
        if parameters is not self._of:
            self._choose(parameters)
        for tag, parameter, as_array in self._chosen:
            sink.add("histogram", tag, parameter.asnumpy() if as_array else parameter)    # what NumPy sees is copied the quickest

    def _choose(self, parameters: Sequence[Any]) -> None:
        """Ask them for what takes several microseconds each."""
        named = {parameter.name: parameter for parameter in parameters}
        found = chosen(named.items(), self.settings)
        self._of, self._chosen = parameters, [(f"{name}/{self.suffix}", each, each.dtype is mindspore.float32) for name, each in found]
        if not self._chosen:
            self.missing(named)

    def end(self) -> None:
        """See `Part.end`."""
        super().end()
        self._of, self._chosen = None, []


class KnownGiven(KnownGradients):
    """What a network holds as ``gradients``."""

    def of(self, network: Any) -> list[tuple[str, Any]]:
        """See `Known.of`."""
        given = "gradients" in getattr(network, "__dict__", ()) or hasattr(type(network), "gradients")    # cells take 30 µs to say no
        return super().of(network) if given else []


class GivenGradients(Gradient):
    """Histograms of what a network of the user's holds as ``gradients``: MindSpore's parameters hold none, and are not asked."""

    known = KnownGiven

    def prepare(self, params: CallbackParams) -> None:
        """Wait for nothing: MindSpore's optimizers tell nobody of their updates."""

    def missing(self, network: Any) -> None:
        """Nothing is missing."""


class GivenNorm(GradientNorm):
    """The norm of the same."""

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self._known = KnownGiven(iter)


class GroupRates(LearningRate):
    """The rate of each group; MindSpore's ``get_lr()`` gives it again for each parameter of the group."""

    def prepare(self, params: CallbackParams) -> None:
        """See `Part.prepare`."""
        super().prepare(_one_per_group(params))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        super().collect(_one_per_group(params), AtHand(sink))


def _one_per_group(params: CallbackParams) -> CallbackParams:
    optimizer: Any = params.get("optimizer")
    if not getattr(optimizer, "is_group_lr", False):
        return params
    rates = {id(rate): rate for rate in optimizer.learning_rate}
    return CallbackParams(params, optimizer=[{"lr": _now(rate, optimizer.global_step)} for rate in rates.values()])


def _now(rate: Any, updates: Any) -> Any:
    """A constant rate, or what a schedule makes of the number of updates when it is asked."""
    return (lambda: rate(updates).reshape(())) if isinstance(rate, mindspore.nn.Cell) else rate


PARTS: dict[type[Part], type[Part]] = {
    Metric: Metrics, Parameter: OptimizerParameters, Gradient: GivenGradients, GradientNorm: GivenNorm, LearningRate: GroupRates,
}  # fmt: skip
"""The parts that take the place of others."""
