"""The norm of all gradients together: scalar ``gradient_norm``."""

from __future__ import annotations

from typing import Any

from summarykit.collectors.known import KnownGradients
from summarykit.collectors.network import in_parts
from summarykit.collectors.norms import norm
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.postponed import Postponing
from summarykit.collectors.update_hook import UpdateHook
from summarykit.training.context import CallbackParams

TAG = "gradient_norm"


class GradientNorm(Part):
    """The norm over the gradients of all parameters, as they are after the update: clipped, where the loop clips them in place.

    The norm before clipping is what ``clip_grad_norm_`` returns: a loop that reports it under this name,
    ``loop.report(gradient_norm=...)``, has it recorded in its place.

    To read all gradients takes milliseconds. Where the loop lets go of them, as PyTorch's ``zero_grad()`` does, and they lie in the
    host's memory, another thread reads them, unless the collector says ``fence=False``.
    """

    key = "collect_gradient_norm"

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._norm = Postponing().norm if self.settings.fence else norm
        self._network: Any = None
        self._found: Any = None
        self._in_parts = False
        self._known = KnownGradients(iter)
        self._hook = UpdateHook(self._take, self.notices)

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Look whether it can be told at all."""
        self._in_parts = bool(in_parts(params.get("network")))

    def prepare(self, params: CallbackParams) -> None:
        """Wait for the update: many loops zero their gradients right behind it."""
        self._network = params.get("network")
        if not params.get("ends_with_update"):
            self._hook.arm(params.get("optimizer"))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect it, unless the loop reports one."""
        called, self._network = self._hook.disarm(), params.get("network")
        if TAG not in (params.get("reported") or ()):
            if not called:
                self._take()
            if self._found is not None:
                sink.add("scalar", TAG, self._found)
        self._network = self._found = None

    def end(self) -> None:
        """Wait no longer, and let go."""
        self._hook.disarm()
        self._known.forget()
        self._network = self._found = None

    def _take(self) -> None:
        gradients = [gradient for _, gradient in self._known.of(self._network)]
        self._found = None if self._in_parts else self._norm(gradients)
        if gradients and self._found is None:
            self.notices.once("sharded", "the gradients are sharded: their norm is not recorded, unless the loop reports it as %s", TAG)
