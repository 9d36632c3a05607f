"""What summary operators in the model were called with: ``summarykit.ops``, and MindSpore's own."""

from __future__ import annotations

from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.ops import Gathering, mindspore_operators, routes
from summarykit.training.context import CallbackParams


class Operator(Part):
    """Values of operators that ran between the beginning and the end of a step that is collected; no key chooses them.

    An adapter that takes MindSpore's after every step leaves those of the current one in the parameters, under ``taken``.
    """

    key = ""
    taken = "summary_operators"

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._gathering = Gathering()

    @classmethod
    def wanted(cls, settings: Any) -> bool:
        """Always: whoever puts an operator into the model wants its values."""
        return True

    def prepare(self, params: CallbackParams) -> None:
        """From now on; what MindSpore's operators left since the last time belongs to other steps."""
        routes.prepare()
        mindspore_operators.taken()
        self._gathering.open()

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect what came in this step."""
        its_own = params[self.taken] if self.taken in params else mindspore_operators.taken()
        for given in [*self._gathering.close(), *its_own]:
            sink.add(given.kind, given.tag, given.value, **given.options)

    def end(self) -> None:
        """No longer, whatever ended the step."""
        self._gathering.close()
