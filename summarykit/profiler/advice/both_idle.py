"""Neither host nor device has anything to do for much of the step: both wait for something that is not seen."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import step_time
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

_MOST = 0.3


def check(report: Report) -> Iterator[Advice]:
    """Say so for the first rank whose device and host operators are known."""
    for profile in report.last[:1]:
        step = step_time(profile)
        split = profile.split
        if not (profile.devices.rows and step and split["host"].any()):
            continue
        idle = float(split["other"][-profile.usual.rows :].mean())
        if idle > _MOST * step:
            yield Advice(
                rule="both_idle",
                title=f"host and device are idle together for {idle / step:.1%} of the step time",
                evidence=f"{number(idle)} ms a step without an operator, a call into the driver or a kernel",
                change="look at Python in that time (collectors=['stacks'], with_stack=True): compilation, locks, files, a debugger; "
                "a machine that is shared takes the processor away",
                check="less than 30 % of the step without any work",
                gain_ms=idle,
                gain=idle / step,
                confidence="low",
            )
