"""One rank comes late to collectives, step after step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.analysis.report import Report


def check(report: Report) -> Iterator[Advice]:
    """Name it."""
    found = report.stragglers
    for row in np.flatnonzero(found.get("straggler", np.empty(0, np.bool_))).tolist():
        late, step = float(found["lateness"][row]), report.last[0].step_times.get("mean", 0.0)
        yield Advice(
            rule="straggler",
            title=f"the others wait for rank {found['rank'][row]}",
            evidence=f"last in {found['last'][row]:.0%} of {found['steps'][row]} steps, {late:.3g} ms after the last but one; "
            f"all others together wait {found['waited_for'][row]:.3g} ms a step",
            change="compare that rank's data, host and device with the others': a slow disk, a busy or throttled machine, longer samples",
            check="no rank last in more than its share of the steps",
            gain_ms=late,
            gain=late / step if step else 0.0,
            confidence="high",
        )
