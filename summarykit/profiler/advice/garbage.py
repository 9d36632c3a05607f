"""Python's garbage collector stops the training."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, gain, step_time, worth
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.recording import Category
from summarykit.profiler.sheet import number


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank that it stops longest."""
    profiles = [profile for profile in report.last if worth(profile, cause(profile, "gc"))]
    for profile in sorted(profiles, key=lambda each: -cause(each, "gc"))[:1]:
        lost = cause(profile, "gc")
        yield Advice(
            rule="gc",
            title=f"the garbage collector stops the training: {lost / step_time(profile):.1%} of the step time",
            evidence=f"{number(lost)} ms a step{_pauses(profile)}",
            change="gc.collect(); gc.freeze() before the loop, then gc.disable() and gc.collect() every few hundred steps; no gc.collect() "
            "in the step; fewer long-lived objects (arrays instead of lists)",
            check="no pauses within steps, and memory that does not grow",
            **gain(profile, lost),
            confidence="high",
        )


def _pauses(profile: Profile) -> str:
    spans = profile.recording.spans
    pauses = spans.duration[spans.of(Category.GC)] / 1e6
    return f" in {len(pauses):,} pauses, the longest of {number(float(pauses.max()))} ms" if len(pauses) else ""
