"""The profiler: where the time of a step goes, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summarykit import lazy

if TYPE_CHECKING:
    from summarykit.profiler.analysis import compare
    from summarykit.profiler.on_demand import ProfileOnDemand
    from summarykit.profiler.profiler import Profiler
    from summarykit.profiler.scheduling import schedule
    from summarykit.profiler.toggles import StopAtEpoch, StopAtStep

__all__ = ["ProfileOnDemand", "Profiler", "StopAtEpoch", "StopAtStep", "compare", "schedule"]

__getattr__ = lazy.names(
    __name__,
    {
        "summarykit.profiler.analysis": ("compare",),
        "summarykit.profiler.on_demand": ("ProfileOnDemand",),
        "summarykit.profiler.profiler": ("Profiler",),
        "summarykit.profiler.scheduling": ("schedule",),
        "summarykit.profiler.toggles": ("StopAtEpoch", "StopAtStep"),
    },
)
