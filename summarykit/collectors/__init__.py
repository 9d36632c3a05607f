"""What SummaryCollector collects, one part per file."""

from summarykit.collectors.collector import SummaryCollector
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.parts import PARTS

__all__ = ["PARTS", "Part", "Sink", "SummaryCollector"]
