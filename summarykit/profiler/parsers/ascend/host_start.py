"""``host_start.log.<device>``: the wall clock and the device's clock at one moment."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from summarykit.profiler.parsers.ascend.files import text

_LINE = re.compile(r"(clock_realtime|clock_monotonic_raw): *(\d+)")


def clock_offset(paths: list[Path], skipped: Counter[str]) -> int | None:
    """Nanoseconds to add to the device's time for the wall clock; None where the file does not say it."""
    said = dict(_LINE.findall(text(paths, skipped)))
    if len(said) < 2:
        return None
    return int(said["clock_realtime"]) - int(said["clock_monotonic_raw"])
