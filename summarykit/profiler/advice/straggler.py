"""One rank comes late to collectives, step after step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.phases import SHOWN
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number


def check(report: Report) -> Iterator[Advice]:
    """Name it."""
    found = report.stragglers
    for row in np.flatnonzero(found.get("straggler", np.empty(0, np.bool_))).tolist():
        late, step = float(found["lateness"][row]), report.last[0].step_times.get("mean", 0.0)
        yield Advice(
            rule="straggler",
            title=f"the others wait for rank {found['rank'][row]}",
            evidence=f"last in {found['last'][row]:.0%} of {found['steps'][row]} steps, {late:.3g} ms after the last but one; "
            f"all others together wait {found['waited_for'][row]:.3g} ms a step{_where(report, row, late)}",
            change="compare that rank's data, host and device with the others': a slow disk, a busy or throttled machine, longer samples",
            check="no rank last in more than its share of the steps",
            gain_ms=late,
            gain=late / step if step else 0.0,
            confidence="high",
        )


def _where(report: Report, row: int, late: float) -> str:
    """The phase in which that rank takes longer than the others do; waiting for others counts as communication, so it is none."""
    names = [name for name in (*SHOWN, "other") if name != "communication"]
    if not all(profile.steps.rows for profile in report.last):
        return ""
    means = np.array([[float(profile.phases[name].mean()) for name in names] for profile in report.last])
    more = means[row] - np.median(np.delete(means, row, axis=0), axis=0)
    most = int(more.argmax())
    return f"; it takes {number(float(more[most]))} ms more than they do in: {names[most]}" if more[most] > late / 2 else ""
