"""What to do about it: rules that look at a report and say what to change, what it may gain and how to check that.

A rule is a module with ``check(report)``, named in ``known.py``; third parties add one with an entry point in the group
``summarykit.advice``.
"""

from __future__ import annotations

from summarykit.profiler.advice.advice import Advice, Rule
from summarykit.profiler.advice.advising import advise
from summarykit.profiler.advice.known import RULES

__all__ = ["RULES", "Advice", "Rule", "advise"]
