"""The first steps are far longer than the others: compilation, warm-up of kernels and allocators, workers that start."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import NOTICEABLE
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

_LEAST = 500.0
"""Milliseconds: what warms up in less is over before anyone looks."""


def check(report: Report) -> Iterator[Advice]:
    """Say so where they took a share of the whole recording."""
    for profile in report.last[:1]:
        times = profile.step_times
        extra = times.get("first_extra", 0.0)
        if not times.get("first") or extra < max(_LEAST, NOTICEABLE * float(profile.steps["duration"].sum())):
            continue
        input_wait = profile.phases["data wait"][: times["first"]].sum()
        yield Advice(
            rule="first_steps",
            title=f"the first {times['first']} of {times['count']} steps took {number(extra)} ms more than others do",
            evidence=f"they waited {number(float(input_wait))} ms for data; the rest is compilation and warm-up",
            change="persistent_workers=True where the data loader starts again each epoch; keep what is compiled (TORCHINDUCTOR_CACHE_DIR, "
            "jax_compilation_cache_dir); profile later steps: StopAtStep(start_step, ...), schedule(warmup=...)",
            check="a recording of later steps has none",
            gain_ms=extra / times["count"],
            gain=extra / times["count"] / times["mean"],
            confidence="low",
        )
