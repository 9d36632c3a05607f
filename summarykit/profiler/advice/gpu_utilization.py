"""A device is busy less than half of the time, and the host is the reason."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

_LEAST = 0.5


def check(report: Report) -> Iterator[Advice]:
    """Say so for the device, of all ranks, that does least."""
    found = [each for profile in report.last for each in _idle(profile)]
    if found:
        use, device, span, late, profile = min(found, key=lambda each: each[0])
        also = f"; {len(found) - 1} more like it, busy up to {max(each[0] for each in found):.1%}" if len(found) > 1 else ""
        where = f"device {device} of rank {profile.recording.rank}" if len(report.last) > 1 else f"device {device}"
        yield _advice(profile, where, use, span, f"one of its streams waits for the host {number(late)} ms of {number(span)} ms{also}")


def _idle(profile: Profile) -> Iterator[tuple[float, int, float, float, Profile]]:
    """Use, number, time looked at and wait for the host (ms) of each device that is idle for that reason."""
    for device, use, span in zip(*(profile.devices.get(name, ()) for name in ("device", "utilization", "span")), strict=True):
        idle = profile.idle
        late = float(idle["time"][(idle["device"] == device) & (idle["cause"] == "host")].max(initial=0.0))
        if use < _LEAST and late:
            yield float(use), int(device), float(span), late, profile


def _advice(profile: Profile, device: str, use: float, span: float, evidence: str) -> Advice:
    count = profile.step_times["count"]
    return Advice(
        rule="gpu_utilization",
        title=f"{device} is busy {use:.1%} of the time",
        evidence=evidence,
        change="larger batches; fewer, larger kernels (torch.compile, CUDA graphs, fused optimizers); no .item() or print of device values "
        "in the loop; look at data wait first",
        check="utilization above 50 %",
        gain_ms=span * (_LEAST - use) / count if count else 0.0,
        gain=_LEAST - use if count else 0.0,
        confidence="low",
    )
