"""A device is busy less than half of the time, and the host is the reason."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

_LEAST = 0.5


def check(report: Report) -> Iterator[Advice]:
    """Say so for each rank's devices."""
    for profile in report.last:
        for device, use, span in zip(*(profile.devices.get(name, ()) for name in ("device", "utilization", "span")), strict=True):
            idle = profile.idle
            late = float(idle["time"][(idle["device"] == device) & (idle["cause"] == "host")].max(initial=0.0))
            if use < _LEAST and late:
                yield _advice(profile, int(device), float(use), float(span), late)


def _advice(profile: Profile, device: int, use: float, span: float, late: float) -> Advice:
    count = profile.step_times["count"]
    return Advice(
        rule="gpu_utilization",
        title=f"device {device} is busy {use:.1%} of the time",
        evidence=f"one of its streams waits for the host {number(late)} ms of {number(span)} ms",
        change="larger batches; fewer, larger kernels (torch.compile, CUDA graphs, fused optimizers); no .item() or print of device values "
        "in the loop; look at data wait first",
        check="utilization above 50 %",
        gain_ms=span * (_LEAST - use) / count if count else 0.0,
        gain=_LEAST - use if count else 0.0,
        confidence="low",
    )
