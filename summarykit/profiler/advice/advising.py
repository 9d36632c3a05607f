"""Asks every rule, and ranks what they say by what it gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.known import RULES

if TYPE_CHECKING:
    from summarykit.profiler.analysis.report import Report


def advise(report: Report) -> list[Advice]:
    """All advice, what gains most first; an empty list says that there is nothing to gain."""
    found = [advice for name in RULES for advice in RULES.get(name).check(report)]
    return sorted(found, key=lambda advice: -advice.gain_ms)
