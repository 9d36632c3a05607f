"""Where spans end for who adds floats of microseconds: since the epoch they have room for quarters of a microsecond only."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.recording import Spans
from summarykit.shapes import Floats, Ints


def ends(spans: Spans) -> Ints:
    """The end of each span in ns, after such a sum."""
    found = microseconds(spans.start) + microseconds(spans.duration)
    whole = np.floor(found)
    return whole.astype(np.int64) * 1000 + np.rint((found - whole) * 1000).astype(np.int64)


def microseconds(time: Ints) -> Floats:
    """Nanoseconds as the nearest float of microseconds."""
    return time // 1000 + time % 1000 / 1000
