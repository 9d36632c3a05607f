"""Every number that the loop reports: a scalar under its own name, in an evaluation under ``eval/<name>``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.collectors.reported import flatten, is_array
from summarykit.training.context import CallbackParams


class Metric(Part):
    """Reported numbers and one-element arrays; what is neither (a text, say) is refused by name."""

    key = "collect_metric"
    whole_step = False

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what this step reported."""
        self.collect_report(params.get("reported", {}), "", sink)

    def collect_report(self, values: Mapping[str, Any], prefix: str, sink: Sink) -> None:
        """Collect what an epoch or an evaluation reported."""
        for tag, value in flatten(values, prefix):
            if not is_array(value):
                sink.add("scalar", tag, value)
