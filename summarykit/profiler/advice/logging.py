"""Logging takes a share of the step that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import WRITES, cause, gain, sampled, step_time, worth
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank that logs most."""
    found = [(cause(profile, "logging"), *sampled(profile, WRITES), profile) for profile in report.last if profile.usual.rows]
    known, seen, line, profile = max(found, key=lambda each: each[0] + each[1], default=(0.0, 0.0, "", None))
    lost = known + seen
    if profile is None or not worth(profile, lost):
        return
    also = f", {number(seen)} ms of it in {line}" if seen > known else ""
    yield Advice(
        rule="logging",
        title=f"logging and writing in the loop: {lost / step_time(profile):.1%} of the step time",
        evidence=f"{number(lost)} ms a step{also}",
        change="log every n-th step and what is large (histograms, images, checkpoints) more rarely; hand it to a writer of its own "
        "(SummaryWriter does that); no print in the loop",
        check="phase logging below 5 % of the step",
        **gain(profile, lost),
        confidence="high",
    )
