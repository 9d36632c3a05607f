"""summarykit: training-time instrumentation for Python.

Callbacks hook into a training loop and feed a buffered writer, which turns values into CRC-framed record files that
TensorBoard, MindInsight and ``summarykit.Run`` open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summarykit import lazy

if TYPE_CHECKING:
    from summarykit import ops
    from summarykit.collectors import LandscapeCollector, SummaryCollector
    from summarykit.errors import ClosedError, MissingExtraError, RefusedValueError, RemotePathError, StorageError, SummaryKitError
    from summarykit.landscape import LossSurface, SummaryLandscape
    from summarykit.profiler import ProfileOnDemand, Profiler, StopAtEpoch, StopAtStep, schedule
    from summarykit.reading import Run, convert, repair, runs, verify
    from summarykit.summary import MetricWriter, SummaryRecord, SummaryWriter
    from summarykit.training import Callback, CallbackList, Loop, RunContext

__version__ = "0.1.0"

_HOMES = {
    "summarykit.collectors": ("LandscapeCollector", "SummaryCollector"),
    "summarykit.errors": ("ClosedError", "MissingExtraError", "RefusedValueError", "RemotePathError", "StorageError", "SummaryKitError"),
    "summarykit.landscape": ("LossSurface", "SummaryLandscape"),
    "summarykit.ops": ("ops",),
    "summarykit.profiler": ("ProfileOnDemand", "Profiler", "StopAtEpoch", "StopAtStep", "schedule"),
    "summarykit.reading": ("Run", "convert", "repair", "runs", "verify"),
    "summarykit.summary": ("MetricWriter", "SummaryRecord", "SummaryWriter"),
    "summarykit.training": ("Callback", "CallbackList", "Loop", "RunContext"),
}
__getattr__ = lazy.names(__name__, _HOMES)

__all__ = [
    "Callback", "CallbackList", "ClosedError", "LandscapeCollector", "Loop", "LossSurface", "MetricWriter", "MissingExtraError",
    "ProfileOnDemand", "Profiler", "RefusedValueError", "RemotePathError", "Run", "RunContext", "StopAtEpoch", "StopAtStep",
    "StorageError", "SummaryCollector", "SummaryKitError", "SummaryLandscape", "SummaryRecord", "SummaryWriter", "convert", "ops",
    "repair", "runs", "schedule", "verify",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
