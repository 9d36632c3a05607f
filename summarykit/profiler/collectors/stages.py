"""The stages of ``summarykit.profiler.pipeline``: time in each, who pulls from whom, sizes of their queues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.names import NAMES
from summarykit.profiler.pipeline import Buffered, Stage, stages
from summarykit.profiler.recording import Category
from summarykit.profiler.tape import Tape

PULLS = {"stage": "int", "parent": "int", "lane": "lane", "start": "int", "end": "int", "queued": "int"}
"""Columns of ``pulls``: number of the stage, that of who pulled (-1: the training), thread, ns, and items that were ready before."""


class _Running(threading.local):
    """The stage whose ``next`` runs in this thread."""

    stage = -1


class StageInstrument(Instrument):
    """Puts a function that notes each ``next`` into all stages; those that are made while a window is open are found by ``refresh``."""

    def __init__(self) -> None:
        super().__init__()
        self._running = _Running()

    def install(self) -> None:
        """See ``Instrument``."""
        for stage in list(stages):
            self._watch(stage)

    refresh = install

    def remove(self) -> None:
        """See ``Instrument``."""
        for stage in list(stages):
            stage.advance = next
            if isinstance(stage, Buffered):
                stage.pull = next

    def _watch(self, stage: Stage[Any]) -> None:
        if stage.advance is next:
            name = NAMES.number(stage.name, Category.DATA)
            stage.advance = self._noted(stage, name)
            if isinstance(stage, Buffered):
                stage.pull = self._as_parent(stage.number)

    def _noted(self, stage: Stage[Any], name: int) -> Callable[[Any], Any]:
        running = self._running

        def advance(iterator: Any) -> Any:
            """The next item of the stage, measured."""
            parent, running.stage = running.stage, stage.number
            queued = stage.queued()
            begun = perf_counter_ns()
            try:
                return next(iterator)
            finally:
                end = perf_counter_ns()
                running.stage = parent
                self.span((name, get_ident(), begun, end))
                self.row("pulls", PULLS, (stage.number, parent, get_ident(), begun, end, queued))

        return advance

    def _as_parent(self, number: int) -> Callable[[Any], Any]:
        def pull(source: Any) -> Any:
            """The next item, in the thread that fills the queue."""
            self._running.stage = number
            return next(source)

        return pull


class Stages(Hooked):
    """Spans of the stages, the table ``pulls`` and the list ``stages``."""

    key = "pipeline"
    period = 0.25
    instrument = StageInstrument()

    def start(self) -> None:
        """See ``Collector``."""
        self._told: set[int] = set()
        super().start()
        self._tell(self.site.tape)

    def tick(self) -> None:
        """See ``Collector``: stages that are new are watched, too."""
        self.instrument.refresh()
        self._tell(self.site.tape)

    def stop(self) -> None:
        """See ``Collector``."""
        self._tell(self.site.tape)
        super().stop()

    def _tell(self, tape: Tape) -> None:
        known = tape.lists.setdefault("stages", [])
        for stage in sorted(stages, key=lambda one: one.number):
            if stage.number not in self._told:
                self._told.add(stage.number)
                known.append((stage.number, stage.name, stage.workers, stage.capacity))
