"""From recordings to a report: where the time of a step went.

``analyse(recordings)`` gives a ``Report``, whose parts are tables; ``compare(before, after)`` says what a change brought. Each question is
one file here, a function from a recording to a table.
"""

from __future__ import annotations

from summarykit.profiler.analysis.analysing import analyse
from summarykit.profiler.analysis.comparing import Comparison, compare
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report

__all__ = ["Comparison", "Profile", "Report", "analyse", "compare"]
