"""What came of a training whose metrics of held-out data are reported with every round, not by evaluations of their own."""

from __future__ import annotations

from summarykit.collectors.lineage import EvalLineage
from summarykit.collectors.part import Sink
from summarykit.training.context import CallbackParams
from summarykit.training.outcome import Outcome


class Results(EvalLineage):
    """Lineage of evaluations; where there was none, what the last round reported takes its place."""

    def ended(self, params: CallbackParams, outcome: Outcome, sink: Sink) -> None:
        """See `Part.ended`."""
        if not self._metrics:
            self.evaluation_end(CallbackParams(params, metrics=params.get("reported")), sink)
