"""Training waits for its input: from 5 % of the step time on (where torch-tb-profiler begins, too)."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.input import BOTTLENECK, NOTICEABLE
from summarykit.profiler.analysis.report import Report


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank that waits most."""
    waiting = [profile for profile in report.last if profile.input.get("share", 0.0) > NOTICEABLE]
    if not waiting:
        return
    worst = max(waiting, key=lambda profile: profile.input["share"])
    wait = worst.input
    # What runs on a device meanwhile would be waited for afterwards: only what nothing else covers is gained.
    uncovered = min(wait["mean"], float(worst.split["data"].mean() + worst.split["other"].mean()))
    yield Advice(
        rule="data_wait",
        title=f"training waits for its input: {wait['share']:.1%} of the step time",
        evidence=f"{wait['mean']:.3g} ms a step (median {wait['median']:.3g}, p99 {wait['p99']:.3g}), the first time {wait['first']:.3g}",
        change="load ahead in other processes: DataLoader(num_workers=4, persistent_workers=True, pin_memory=True) or more; "
        "decode and augment less, or once and keep it",
        check="share of data wait below 5 %",
        gain_ms=uncovered,
        gain=uncovered / worst.step_times["mean"],
        confidence="high" if wait["share"] > BOTTLENECK else "medium",
    )
