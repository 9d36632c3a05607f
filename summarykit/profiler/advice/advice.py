"""What a piece of advice is, and what a rule is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from summarykit.profiler.analysis.report import Report


@dataclass(frozen=True)
class Advice:
    """One thing to change.

    Attributes:
        rule: which rule says so.
        title: the finding, in a line.
        evidence: the figures that it rests on.
        change: what to do.
        check: how to see whether it helped.
        gain_ms: what a step would take less, in ms; 0 where that cannot be told.
        gain: the same as a share of the step time.
        confidence: ``"high"``, ``"medium"`` or ``"low"``.
    """

    rule: str
    title: str
    evidence: str
    change: str
    check: str
    gain_ms: float = 0.0
    gain: float = 0.0
    confidence: str = "medium"


class Rule(Protocol):
    """A module with this function."""

    def check(self, report: Report) -> Iterable[Advice]:
        """What there is to say; nothing where the rule does not apply."""
