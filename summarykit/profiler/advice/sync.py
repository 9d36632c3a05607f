"""The loop makes the host wait for the device in every step: ``.item()``, ``synchronize()``, copies that are not asynchronous."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import WAITS, cause, gain, sampled, step_time, worth
from summarykit.profiler.analysis.causes import syncs
from summarykit.profiler.analysis.choosing import covered
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number
from summarykit.shapes import Ints


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank that waits longest."""
    found = [(*_found(profile), profile) for profile in report.last if profile.usual.rows]
    lost, line, profile = max(found, key=lambda each: each[0], default=(0.0, "", None))
    if profile is None or not worth(profile, lost):
        return
    spans, inside = profile.recording.spans, _calls(profile)
    names = ", ".join(sorted({spans.names[name] for name in spans.name[inside].tolist()})[:4])
    calls = f"{len(inside) / profile.usual.rows:.3g} calls a step ({names}); " if len(inside) else ""
    yield Advice(
        rule="sync",
        title=f"the loop waits for the device in its steps: {lost / step_time(profile):.1%} of the step time",
        evidence=f"{calls}{number(lost)} ms a step are lost{f', most of them in {line}' if line else ''}",
        change="read values of the device every n-th step, or after the epoch: keep losses as tensors (loss.detach()); no synchronize() "
        "in the loop; pin_memory=True with to(device, non_blocking=True)",
        check="no call that waits within a step, and a device that is busy",
        **gain(profile, lost),
        confidence="high" if line or not profile.devices.rows else "medium",
    )


def _found(profile: Profile) -> tuple[float, str]:
    """Milliseconds a step, and the line."""
    if profile.devices.rows:
        return _on_device(profile), ""
    exact = cause(profile, "sync")
    seen, line = sampled(profile, WAITS)
    return exact + seen, line


def _on_device(profile: Profile) -> float:
    """A host that did not wait would be ahead by so much: of what the device idles, beside the wait for data, that much would go."""
    steps, spans = profile.usual, profile.recording.spans
    waited = covered(spans, _calls(profile)).within(steps["start"], steps["end"]).mean() / 1e6
    idle = float((profile.causes["total"] - profile.causes["busy"]).mean()) - cause(profile, "data wait")
    return float(min(waited, max(idle, 0.0)))


def _calls(profile: Profile) -> Ints:
    """The calls that wait, within the usual steps."""
    spans, steps = profile.recording.spans, profile.usual
    calls = np.flatnonzero(syncs(spans))
    return calls[Intervals.union(steps["start"], steps["end"]).hold(spans.start[calls])]
