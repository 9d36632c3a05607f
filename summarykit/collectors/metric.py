"""Every number that the loop reports: a scalar under its own name, in an evaluation under ``eval/<name>``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.collectors.reported import at_hand, flatten, is_array, values_of
from summarykit.training.context import CallbackParams


class Metric(Part):
    """Reported numbers and one-element arrays; texts as texts; what is neither is refused by name.

    Where nothing can be reported (the loop is not ours), the loss is taken from what the network gave. Where gradients are
    accumulated, ``micro_step`` says how many batches the run has had.
    """

    key = "collect_metric"
    whole_step = False

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what this step reported."""
        self.collect_report(values_of(params), "", sink)
        batches = params.get("micro_step", 0)
        if batches > params["cur_step_num"] - (params.get("initial_step") or 0):
            sink.add("scalar", "micro_step", batches)

    def takes(self, value: Any) -> bool:
        """See `Part`: a number or a text."""
        return not is_array(value)

    def collect_report(self, values: Mapping[str, Any], prefix: str, sink: Sink) -> None:
        """Collect what an epoch or an evaluation reported."""
        for tag, value in flatten(values, prefix):
            if self.takes(value):
                sink.add("text" if isinstance(value, str) else "scalar", tag, at_hand(value))
