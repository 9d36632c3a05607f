"""Histograms of the gradients: ``<name>/gradient``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarykit.collectors.habit import Habit
from summarykit.collectors.known import KnownGradients
from summarykit.collectors.network import named_parameters
from summarykit.collectors.parameter import Chosen, chosen
from summarykit.collectors.part import Sink
from summarykit.collectors.update_hook import UpdateHook
from summarykit.kinds.fence import FENCE
from summarykit.training.context import CallbackParams

WORTH_WAITING = 2**12
"""Elements of the largest from which copies may wait; of smaller ones they cost less than waking the training thread while another makes
them. Where one waits, all do: the training thread comes here with cold caches, where the first copy takes 70 µs whatever its size.
"""


class Gradient(Chosen):
    """Histograms of the gradients as they are right after a PyTorch optimizer's update; elsewhere, after the step.

    A last step that nobody foresaw is one of the latter: there the loop must not have zeroed them.

    They are copied in the call, unless the loop leaves them alone from then on (see ``Habit``) and the collector does not say
    ``fence=False``.
    """

    key = "collect_gradient"
    suffix = "gradient"
    known = KnownGradients

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._sink: Sink | None = None
        self._params = CallbackParams()
        self._seen = False
        self._habit = Habit()
        self._hook = UpdateHook(self._updated, self.notices)

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Keep the sink for the hook."""
        self._sink = sink
        super().begin(params, sink)

    def prepare(self, params: CallbackParams) -> None:
        """Wait for the update."""
        self._params = params
        if not params.get("ends_with_update"):
            self._hook.arm(params.get("optimizer"))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the gradients, unless that was done."""
        if not self._hook.disarm():
            super().collect(params, sink)
            self._seen = self._seen or params.get("ends_with_update", False)

    def end(self) -> None:
        """Wait no longer."""
        super().end()
        self._hook.disarm()
        self._habit.forget()
        self._sink, self._params = None, CallbackParams()

    def _updated(self) -> None:
        if self._sink is not None:
            super().collect(self._params, self._sink)
            self._seen = True

    def held(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Where the loop leaves them alone, they may be copied beside the next forward pass."""
        if not (self.settings.fence and self._habit.keeps(gradients)) or max(each.numel() for each in gradients) < WORTH_WAITING:
            return super().held(gradients)
        return [FENCE.postpone(each, self._habit.distrust) for each in gradients]

    def missing(self, network: Any) -> None:
        """Tell where gradients were to be expected; many frameworks keep none, and of an unforeseen last step they may be gone."""
        if not self._seen and any(hasattr(value, "grad") for _, value in chosen(named_parameters(network), self.settings)):
            self.notices.once("gradient", "no gradients at the end of a step: zero them before backward(), not after the update")
