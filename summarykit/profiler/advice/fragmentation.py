"""The allocator holds far more of a device's memory than tensors need: pieces that fit nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.recording import Table

_MOST, _WORTH = 0.3, 256e6


def check(report: Report) -> Iterator[Advice]:
    """Say so for each device for which both are known."""
    for profile in report.last:
        found = profile.recording.tables.get("memory", Table())
        if not found.rows or "reserved" not in found:
            continue
        for device in np.unique(found["device"]).tolist():
            here = found["device"] == device
            held, used = np.nanmax(np.append(found["reserved"][here], 0)), np.nanmax(np.append(found["allocated"][here], 0))
            if device >= 0 and used and held - used > max(_MOST * held, _WORTH):
                yield Advice(
                    rule="fragmentation",
                    title=f"device {int(device)}: {1 - used / held:.0%} of the memory that is held was never used at once",
                    evidence=f"{held / 1e9:.3g} GB held by the allocator, {used / 1e9:.3g} GB allocated at most",
                    change="PYTORCH_ALLOC_CONF=expandable_segments:True; the same shapes in every step (drop_last=True, padding); no "
                    "large tensors that come and go between others",
                    check="memory that is held within 30 % of what is allocated at most",
                    confidence="medium",
                )
