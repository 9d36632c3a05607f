"""Keeps what each collector costs within its share of the time: one that takes more looks more rarely, or is switched off."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns

from summarykit.notices import logger
from summarykit.profiler.collectors import Collector
from summarykit.profiler.ticker import Beat

LOOKS = 4
"""So many looks of a collector say what one costs: the first ones alone may be dearer."""
RAREST = 10_000_000_000
"""ns between two looks; a collector that would have to look more rarely than that is of no use any more."""
BURST = 5_000_000_000
"""The budget of so many ns may be spent at once: a short burst, at the start or later, is no reason to miss the rest of the window."""


@dataclass
class _Account:
    """What the marks of one collector cost, since the last moment in which it was within the budget."""

    since: int
    marks: int = 0
    spent: int = 0


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
        self._accounts: dict[str, _Account] = {}
        self._looked: dict[str, tuple[int, int]] = {}
        self._begun = perf_counter_ns()

    def too_dear(self, collector: Collector, ns_per_mark: int) -> bool:
        """Whether its marks take more of the training than the budget, for longer than a burst: then it must be switched off.

        This is a leaky bucket: the time that passes pays for marks, those of up to ``BURST`` may be owed.
        """
        now, made = perf_counter_ns(), collector.marks
        account = self._accounts.setdefault(collector.key, _Account(self._begun))
        account.spent += (made - account.marks) * ns_per_mark
        account.marks = made
        owed = account.spent - self._budget * (now - account.since)
        if owed <= 0:
            account.since, account.spent = now, 0
        dear = owed > self._budget * BURST
        if dear:
            self._tell(collector.key, account.spent / max(now - account.since, 1), "it is off from here on")
        return dear

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
