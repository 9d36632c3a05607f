"""How you ask for it: SummaryRecord, SummaryWriter and their relatives."""

from summarykit.summary.metric_writer import MetricWriter
from summarykit.summary.record import SummaryRecord
from summarykit.summary.writer import SummaryWriter

__all__ = ["MetricWriter", "SummaryRecord", "SummaryWriter"]
