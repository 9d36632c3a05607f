"""Steps are so small that what every step costs, whatever its batch, is most of it. Larger batches share that among more samples."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, gain, step_time, worth
from summarykit.profiler.advice.fixed_costs import computing, fixed_costs
from summarykit.profiler.advice.waiting import loader
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

LARGER = 8
"""Times as large a batch is what the advice promises its gain for: of the time for as many samples as a step has now."""
_MOST = 0.7
"""Share of the computing. A network of convolutions, with batches of 16, comes to 0.6 on a machine that others use (torch 2.13)."""


def check(report: Report) -> Iterator[Advice]:
    """Say so for the first rank."""
    for profile in report.last[:1]:
        fixed, calls = fixed_costs(profile)
        if fixed > _MOST * (computing(profile) + cause(profile, "busy")) and worth(profile, fixed * (1 - 1 / LARGER)):
            yield _advice(profile, fixed, calls)


def _advice(profile: Profile, fixed: float, calls: float) -> Advice:
    size = loader(profile).get("batch_size")
    larger = f"batch_size={size * LARGER} instead of {size}" if isinstance(size, int) else f"batches {LARGER} times as large"
    return Advice(
        rule="tiny_batches",
        title=f"batches are too small: {fixed / step_time(profile):.1%} of the step time is the same for any batch",
        evidence=f"{number(fixed)} ms a step for {calls:,.0f} calls of operators, Python between them and the update",
        change=f"{larger}, with the learning rate that goes with it; torch.compile or CUDA graphs; a fused optimizer (foreach=True, "
        "fused=True)",
        check=f"a step of {LARGER} times the samples takes much less than {LARGER} steps",
        **gain(profile, fixed * (1 - 1 / LARGER)),
    )
