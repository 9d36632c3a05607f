"""What became of the values: written or dropped, and why."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np

from summarykit.formats.scalars import ScalarBatch
from summarykit.notices import Notices

MOST_REASONS = 100
"""Different reasons that are counted apart: a reason may hold a message of the user's own code, another one at each step."""


class Stats:
    """Counters of one writer. Written by its pump; refusals and drops may come from any thread."""

    def __init__(self, name: str) -> None:
        """Start from zero; ``name`` (the directory) stands in the warnings."""
        self.name = name
        self.written = 0
        self.bytes = 0
        self.dropped: Counter[str] = Counter()
        self.nonfinite: dict[str, int] = {}
        self._lock = threading.RLock()    # re-entrant: a signal handler may record while its thread is counting
        self._notices = Notices()

    def drop(self, reason: str, values: int = 1, detail: str = "") -> None:
        """Count values that will not reach the file, and say so the first time for each reason."""
        with self._lock:
            if reason not in self.dropped and len(self.dropped) >= MOST_REASONS:
                reason, detail = "other reasons", f"{reason}{detail and f': {detail}'}"
            self.dropped[reason] += values
        self.say(("drop", reason), "%s; further ones are only counted in stats()", f"{reason}{detail and f': {detail}'}")

    def say(self, key: Any, message: str, *args: object) -> None:
        """Warn once per ``key``."""
        self._notices.once(key, f"%s: {message}", self.name, *args)

    def watch(self, batch: ScalarBatch) -> None:
        """Note the first step of each tag whose value is NaN or infinite."""
        for place in (~np.isfinite(batch.values)).nonzero()[0].tolist():
            self.nonfinite.setdefault(batch.tags[place], int(batch.steps[place]))

    def as_dict(self, waiting: int, lag: float) -> dict[str, Any]:
        """The counters as ``SummaryRecord.stats()`` gives them."""
        with self._lock:
            dropped = dict(self.dropped)
        return {
            "recorded": self.written + sum(dropped.values()) + waiting,
            "written": self.written,
            "waiting": waiting,
            "dropped": dropped,
            "bytes": self.bytes,
            "lag": lag,
            "nonfinite": dict(self.nonfinite),
        }
