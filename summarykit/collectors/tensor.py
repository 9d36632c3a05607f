"""Every array that the loop reports: a tensor under its own name, less often than numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.collectors.reported import flatten, is_array
from summarykit.training.context import CallbackParams
from summarykit.training.triggers import Doubling, Trigger, every, first, last

MOST = 20
"""How often the automatic rule collects in a run."""


class Tensor(Part):
    """Reported arrays of more than one element."""

    key = "collect_tensor"
    whole_step = False

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Set the rule, now that the length of the run may be known."""
        self.trigger = first() | self._rule(total_steps(params)) | last()

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what this step reported."""
        self.collect_report(params.get("reported", {}), "", sink)

    def takes(self, value: Any) -> bool:
        """See `Part`: an array."""
        return is_array(value)

    def collect_report(self, values: Mapping[str, Any], prefix: str, sink: Sink) -> None:
        """Collect what an epoch or an evaluation reported."""
        for tag, value in flatten(values, prefix):
            if self.takes(value):
                sink.add("tensor", tag, value)

    def _rule(self, total: int | None) -> Trigger:
        """As asked; else spread over the run, at most ``MOST`` times; else, in a run of unknown length, ever less often."""
        if self.settings.collect_tensor_freq:
            return every(steps=self.settings.collect_tensor_freq)
        if total is None:
            return Doubling(self.settings.collect_freq)
        return every(steps=max(self.settings.collect_freq, total // (MOST - 1) + 1))


def total_steps(params: CallbackParams) -> int | None:
    """Steps of the whole run, or None where nobody knows."""
    epochs, batches = params.get("epoch_num"), params.get("batch_num")
    return None if epochs is None or batches is None else int(epochs) * int(batches)
