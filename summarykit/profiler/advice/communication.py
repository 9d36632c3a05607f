"""Communication takes more than a tenth of the step and nothing runs beside it."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.report import Report

_MOST = 0.10


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank with most of it."""
    profiles = [profile for profile in report.last if profile.steps.rows]
    if not profiles:
        return
    worst = max(profiles, key=lambda profile: float(profile.split["communication"].mean()))
    alone, step = float(worst.split["communication"].mean()), worst.step_times["mean"]
    if alone <= _MOST * step:
        return
    yield Advice(
        rule="communication",
        title=f"communication without computation beside it: {alone / step:.1%} of the step time",
        evidence=f"{alone:.3g} ms a step on rank {worst.recording.rank}",
        change="larger gradient buckets (bucket_cap_mb), gradient accumulation, compression (fp16, PowerSGD) or sharding; "
        "look for a straggler first: waiting for it is counted here",
        check="communication below 10 % of the step",
        gain_ms=alone - _MOST * step,
        gain=alone / step - _MOST,
        confidence="low",
    )
