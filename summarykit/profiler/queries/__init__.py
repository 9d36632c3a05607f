"""MindInsight's questions to a profile, answered without it: of a folder with its files, or of a recording from any source.

::

    queries = Queries("summary/profiler", device=0)            # or Queries(recording)
    queries.operators("aicore_detail", {
        "filter_condition": {"kernel_type": {"in": ["MatMul"]}},
        "sort_condition": {"name": "avg_execution_time", "type": "descending"},
        "group_condition": {"limit": 10, "offset": 0},
    }).table
    queries.step_trace({"mode": "step", "step_id": 3})
"""

from __future__ import annotations

from summarykit.profiler.queries.answer import Answer
from summarykit.profiler.queries.queries import Queries
from summarykit.profiler.queries.source import NotRecordedError

__all__ = ["Answer", "NotRecordedError", "Queries"]
