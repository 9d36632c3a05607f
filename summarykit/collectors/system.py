"""The machine and this process: scalars ``system/...``."""

from __future__ import annotations

import weakref
from typing import Any

from summarykit.collectors.gpus import Gpus
from summarykit.collectors.machine import Machine
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.sampler import Sampler
from summarykit.training.context import CallbackParams
from summarykit.training.outcome import Outcome

PERIOD = 5.0
"""Seconds between two samples."""


class System(Part):
    """Processor, memory, disk, network and GPUs, sampled by a thread every few seconds, and when the run ends.

    A step that is collected takes the newest sample, unless an earlier step has taken it. See ``Machine`` and ``Gpus`` for what there is.
    """

    key = "collect_system"
    of_machine = True

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._sampler: Sampler | None = None
        self._recorded: int | None = None

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Begin to sample."""
        self._sampler = Sampler([Machine(self.settings.summary_dir), Gpus(self.notices)], PERIOD)
        self._sampler.start()
        weakref.finalize(self, self._sampler.dismiss).atexit = False    # where nobody ends a run, and it becomes garbage

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the newest sample."""
        if self._sampler is not None and (values := self._sampler.take()):
            self._recorded = params.get("cur_step_num")
            _add(values, sink)

    def ended(self, params: CallbackParams, outcome: Outcome, sink: Sink) -> None:
        """Collect a last sample, unless the last step has one: a short run has no other."""
        if self._sampler is not None and self._sampler.stop() and self._recorded != params.get("cur_step_num"):
            self._sampler.sample()
            _add(self._sampler.take(), sink)

    def end(self) -> None:
        """See ``Part``."""
        if self._sampler is not None:
            self._sampler.stop()


def _add(values: dict[str, float], sink: Sink) -> None:
    for name, value in values.items():
        sink.add("scalar", f"system/{name}", value)
