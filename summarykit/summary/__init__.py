"""How you ask for it: SummaryRecord and its relatives."""

from summarykit.summary.record import SummaryRecord

__all__ = ["SummaryRecord"]
