"""One window: its directory, its collectors, its one thread, from start to end."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from summarykit.notices import logger
from summarykit.profiler.anchors import anchor
from summarykit.profiler.collectors import Collector, Site
from summarykit.profiler.cost import Cost, ns_per_call
from summarykit.profiler.facts import facts
from summarykit.profiler.governor import Governor
from summarykit.profiler.keeping import KEEP
from summarykit.profiler.phases import phase
from summarykit.profiler.places import new_window
from summarykit.profiler.plan import Plan
from summarykit.profiler.steps import Steps
from summarykit.profiler.store import Store
from summarykit.profiler.tape import Tape
from summarykit.profiler.ticker import Beat, Ticker
from summarykit.profiler.timed import Timed, mark

DRAIN = 1_000_000_000
"""Every so many ns what was recorded is written."""
_DESCRIBE = 2    # with every second of these, what the collectors say of themselves


class Window:
    """What is recorded between a start and a stop.

    Attributes:
        records: the directory of this rank's records.
        steps: takes marks of steps.
        warming: True while everything runs but nothing is kept.
        closed: True after ``close``.
    """

    def __init__(self, plan: Plan, told: bool = False, warming: bool = False) -> None:
        """Open a window.

        Args:
            plan: what the profiler was asked for.
            told: whether it is sure that steps will be told of.
            warming: keep nothing before ``keep`` is called.

        Raises:
            OSError: its files cannot be made.
        """
        rank, world_size = plan.place()
        self.records = new_window(plan.output_path, rank)
        self.warming = warming
        self.closed = False
        self._tape = Tape()
        self._site = Site(self._tape, self.records.parent, self.records.stem, plan.max_bytes, told)
        self.steps = Steps(self._tape, self._site.listeners, quiet=warming)
        head = {**facts(), "rank": rank, "world_size": world_size, "keep": plan.keep, "max_bytes": plan.max_bytes}
        self._store = Store(self._tape, self.records, head, KEEP[plan.keep](self.records, plan.max_bytes, plan.max_seconds))
        self._store.begin()
        self._collectors = [one for one in map(self._made, plan.classes()) if one is not None]
        self._running = [one for one in self._collectors if self._did(one, "start", one.start)]
        self._drain = Beat("writing", DRAIN, self._written)
        self._drains = self._ns_per_mark = 0
        self._said: dict[str, dict[str, Any]] = {}
        self._mute: set[str] = set()
        self._full = False
        self._governor = Governor(plan.max_overhead)
        self._lock = threading.RLock()
        self._beats = {one.key: self._beat(one) for one in self._running if one.period}
        self._ticker = Ticker([*self._beats.values(), self._drain])
        self._ticker.start()
        self.steps.start()

    @property
    def directory(self) -> Path:
        """The directory of the window."""
        return self.records.parent

    def keep(self) -> None:
        """The warm-up is over: what was recorded is forgotten, what comes is kept."""
        for table in self._tape.tables.values():
            while table.take()[next(iter(table.columns))].size:
                continue
            table.taken = 0
        self.steps.restart()
        self.warming = False

    def phase(self, name: str) -> Timed:
        """A ``with`` block as a phase of the step."""
        return Timed(phase(name), self._tape.spans.add)

    def close(self, why: str) -> None:
        """End the recording; what takes long is left to ``finish``."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            self.steps.settle()
            self.steps.stop()
            free = self._ticker.end()
            self._stop(lambda _: True)
            if free:
                self._write_end(why)
            else:
                logger.warning("profiler: %s cannot be written to at present: the end of the window is missing", self.directory)
            self._let_go()

    def forget(self) -> None:
        """In a forked child: the window is the parent's."""
        self.closed = True
        self.steps.stop()
        for collector in self._running:
            collector.forget()
        self._store.abandon()

    def finish(self) -> None:
        """Do what takes long, before an analysis."""
        for collector in self._collectors:
            self._did(collector, "finish", collector.finish)

    def _write_end(self, why: str) -> None:
        if not self.warming:
            self._store.drain()
        self._store.close({"ended": anchor(), "why": why, "steps": self.steps.count, **self._told()})

    def _let_go(self) -> None:
        """Hold nothing that is not needed any more: a long training may have thousands of windows."""
        self._ticker.keep_only(self._drain)
        self._beats = {}
        self._collectors = [one for one in self._collectors if type(one).finish is not Collector.finish]
        self._tape.tables.clear()
        self._tape.lists.clear()

    def _made(self, kind: type[Collector]) -> Collector | None:
        try:
            return kind(self._site)
        except Exception as error:  # noqa: BLE001 - one collector that cannot be had must not cost the others
            logger.warning("profiler: no collector %r: %s", kind.key, error)
            return None

    @staticmethod
    def _did(collector: Collector, what: str, work: Callable[[], None]) -> bool:
        try:
            work()
        except Exception:  # noqa: BLE001 - it reaches into frameworks; the training goes on without it
            logger.warning("profiler: collector %r failed to %s, the rest goes on: %s", collector.key, what, traceback.format_exc())
            return False
        return True

    def _stop(self, which: Callable[[Collector], bool]) -> None:
        for collector in [one for one in reversed(self._running) if which(one)]:
            self._did(collector, "stop", collector.stop)
            self._running = [one for one in self._running if one is not collector]    # two threads may stop one

    @staticmethod
    def _beat(one: Collector) -> Beat:
        return Beat(f"collector {one.key!r}", int(one.period * 1e9), one.tick, one.cost)

    def _written(self) -> None:
        """The beat that writes."""
        if self.warming:
            return
        self._store.drain()
        if self._drains % _DESCRIBE == 0:
            self._store.describe(self._told())
        self._drains += 1
        if self._store.over and not self._full:
            self._full = True
            logger.warning("profiler: the window has reached its limit in %s: it holds what came before", self._store.over)
            self.steps.stop()
            self._ticker.keep_only(self._drain)
            self._stop(lambda one: one.anywhere)
        elif not self._full:
            self._govern()

    def _govern(self) -> None:
        """Switch off what takes too much of the time, unless looking more rarely helps."""
        dear = {one.key for one in self._running if one.anywhere and self._governor.too_dear(one, self._mark_ns())}
        off = dear | {key for key, beat in self._beats.items() if not self._governor.thin(key, beat)}
        self._stop(lambda one: one.key in off)
        for key in off & self._beats.keys():
            self._ticker.drop(self._beats.pop(key))    # a look might put hooks in place again

    def _told(self) -> dict[str, Any]:
        return {
            "collected": {one.key: self._described(one) for one in self._collectors},
            "costs": {name: vars(cost) for name, cost in self._costs().items()},
            "governed": self._governor.told,
        }

    def _described(self, one: Collector) -> dict[str, Any]:
        """What a collector says of itself; of one that failed to, what it said last."""

        def say() -> None:
            """Say it as it is now."""
            self._said[one.key] = one.described()

        if one.key not in self._mute and not self._did(one, "describe itself", say):
            self._mute.add(one.key)
        return self._said.get(one.key, {})

    def _costs(self) -> dict[str, Cost]:
        """What each collector cost; of marks that is their number times what one takes here and now."""
        costs = {one.key: one.cost for one in self._collectors}
        own = {one.key: one.marks for one in self._collectors if one.marks}
        own["steps and phases"] = max(self._store.written - sum(own.values()), 0)    # a full disk may have cost some
        costs |= {key: replace(costs.get(key, Cost()), calls=marks, ns=marks * self._mark_ns()) for key, marks in own.items()}
        return {**costs, "writing": self._drain.cost}

    def _mark_ns(self) -> int:
        self._ns_per_mark = self._ns_per_mark or ns_per_call(mark)
        return self._ns_per_mark
