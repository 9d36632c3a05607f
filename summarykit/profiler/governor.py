"""Keeps what each collector costs within its share of the time: one that takes more looks more rarely, or is switched off."""

from __future__ import annotations

from time import perf_counter_ns

from summarykit.notices import logger
from summarykit.profiler.collectors import Collector
from summarykit.profiler.ticker import Beat

LOOKS = 4
"""So many looks of a collector say what one costs: the first ones alone may be dearer."""
RAREST = 10_000_000_000
"""ns between two looks; a collector that would have to look more rarely than that is of no use any more."""


class Governor:
    """What the collectors of one window may cost.

    Attributes:
        told: what was done about a collector, in words, by its key.
    """

    def __init__(self, budget: float) -> None:
        """Take the budget.

        Args:
            budget: share of the time that one collector may take, above 0.
        """
        self.told: dict[str, str] = {}
        self._budget = budget
        self._marked: dict[str, tuple[int, int]] = {}
        self._looked: dict[str, tuple[int, int]] = {}
        self._begun = perf_counter_ns()

    def too_dear(self, collector: Collector, ns_per_mark: int) -> bool:
        """Whether what its marks took of the training since the last call is over the budget: then it must be switched off."""
        now, made = perf_counter_ns(), collector.marks
        then, before = self._marked.get(collector.key, (self._begun, 0))
        self._marked[collector.key] = now, made
        share = (made - before) * ns_per_mark / max(now - then, 1)
        if share > self._budget:
            self._tell(collector.key, share, "it is off from here on")
        return share > self._budget

    def thin(self, key: str, beat: Beat) -> bool:
        """Have a beat come more rarely where it takes more than the budget. False: that does not help, and it must be switched off."""
        calls, ns = self._looked.get(key, (0, 0))
        if beat.cost.calls - calls < LOOKS:
            return True
        self._looked[key] = beat.cost.calls, beat.cost.ns
        each = (beat.cost.ns - ns) / (beat.cost.calls - calls)
        if each <= self._budget * beat.period:
            return True
        share, beat.period = each / beat.period, int(each / self._budget)
        rarest = beat.period > RAREST
        self._tell(key, share, "it is off from here on" if rarest else f"it looks every {beat.period / 1e6:.3g} ms from here on")
        return not rarest

    def _tell(self, key: str, share: float, done: str) -> None:
        text = f"collector {key!r} took {share:.2g} of the time, max_overhead={self._budget:g}: {done}"
        if key not in self.told:
            logger.warning("profiler: %s", text)
        self.told[key] = text
