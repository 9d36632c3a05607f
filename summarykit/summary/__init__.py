"""How you ask for it: SummaryRecord, SummaryWriter and their relatives."""

from typing import TYPE_CHECKING

from summarykit import lazy

if TYPE_CHECKING:
    from summarykit.summary.metric_writer import MetricWriter
    from summarykit.summary.record import SummaryRecord
    from summarykit.summary.writer import SummaryWriter

__all__ = ["MetricWriter", "SummaryRecord", "SummaryWriter"]

__getattr__ = lazy.names(
    __name__,
    {
        "summarykit.summary.metric_writer": ("MetricWriter",),
        "summarykit.summary.record": ("SummaryRecord",),
        "summarykit.summary.writer": ("SummaryWriter",),
    },
)
