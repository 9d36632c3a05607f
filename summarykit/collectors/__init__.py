"""What SummaryCollector collects, one part per file."""

from summarykit.collectors.collector import SummaryCollector
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.parts import PARTS

__all__ = ["PARTS", "LandscapeCollector", "Part", "Sink", "SummaryCollector"]
