"""What ties ``perf_counter_ns`` to the wall clock."""

from __future__ import annotations

import time


def anchor() -> dict[str, int]:
    """One moment on several clocks, in ns: ``perf``, ``wall`` (epoch) and ``raw`` (never slewed; 0 where there is none).

    Of five looks the one that took the shortest, so that no other thread ran in between.
    """
    return min((_look() for _ in range(5)), key=lambda look: look["within"])


def _look() -> dict[str, int]:
    before = time.perf_counter_ns()
    wall = time.time_ns()
    after = time.perf_counter_ns()
    raw = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) if hasattr(time, "CLOCK_MONOTONIC_RAW") else 0
    return {"perf": (before + after) // 2, "wall": wall, "raw": raw, "within": after - before}
