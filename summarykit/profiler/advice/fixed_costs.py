"""What a step costs whatever its batch: calls of operators, Python between them, the update.

An operator that takes less than ten microseconds takes them to be called, whatever it computes. So of each operator that much is fixed, and
so are the optimizer and the time between operators.
"""

from __future__ import annotations

import numpy as np

from summarykit.profiler.advice.evidence import WAITS, WRITES, cause, sampled
from summarykit.profiler.analysis.causes import roles
from summarykit.profiler.analysis.choosing import covered, on_devices
from summarykit.profiler.analysis.intervals import NEVER, Intervals
from summarykit.profiler.analysis.nesting import Nesting
from summarykit.profiler.analysis.phases import phase_times
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.recording import Category, Table
from summarykit.shapes import Ints

_CALL = 10_000
_HAND_OVER, _MANY = 20, 100
"""Calls of operators, of a step that has many, that take as long as a data loader does to hand over a batch of any size (torch 2.13: 21 to
27, with a small batch in it). Where caches are cold both take longer."""
_LEAST = 3


def computing(profile: Profile, since: Ints | None = None) -> float:
    """Milliseconds of a usual step (the median), or of those that start at these ns, in which the host is not kept by anything else."""
    if not profile.usual.rows:
        return 0.0
    others = sum(sampled(profile, pattern)[0] for pattern in (WAITS, WRITES))
    chosen = slice(None) if since is None else np.isin(profile.usual["start"], since)
    return max(float(np.median(profile.causes["other"][chosen])) - others, 0.0)


def fixed_costs(profile: Profile) -> tuple[float, float]:
    """Where operators were traced: ms of a usual step that no batch changes, and the number of operators; else 0 and 0."""
    spans = profile.recording.spans
    operators = np.flatnonzero(spans.of(Category.HOST_OP) & ~on_devices(spans))
    steps = _traced(profile.usual, spans.start[operators])
    if steps.rows < _LEAST:
        return 0.0, 0.0
    scaled = (covered(spans, operators) & _left(profile, steps)) - phase_times(profile.recording, steps)["optimizer"]
    step = np.searchsorted(steps["start"], spans.start[operators], side="right") - 1
    inside = scaled.hold(spans.start[operators]) & (step >= 0)
    calls, called = _calls(Nesting(spans, operators).self_time[inside], step[inside], steps.rows)
    by_sample = float(np.median(np.maximum(scaled.within(steps["start"], steps["end"]) - called, 0))) / 1e6
    there = computing(profile, steps["start"])    # other programs may have left these steps more or less of a processor than all
    fixed = computing(profile) * max(1 - by_sample / there, 0.0) if there else 0.0
    count = float(np.median(calls))
    return fixed + min(_HAND_OVER * fixed / max(count, _MANY), cause(profile, "data wait")), count


def _traced(steps: Table, start: Ints) -> Table:
    """The steps in which operators began."""
    place = np.searchsorted(np.sort(start), steps["start"])
    until = np.searchsorted(np.sort(start), steps["end"])
    return Table({name: column[until > place] for name, column in steps.items()})


def _left(profile: Profile, steps: Table) -> Intervals:
    """The moments of these steps that nothing else keeps the host in."""
    taken = NEVER
    for role in roles(profile.recording, steps).values():
        taken |= role
    return Intervals.union(steps["start"], steps["end"]) - taken


def _calls(own: Ints, step: Ints, count: int) -> tuple[Ints, Ints]:
    """Number of operators in each step, and ns that calling them takes."""
    return np.bincount(step, minlength=count), np.bincount(step, np.minimum(own, _CALL), minlength=count).astype(np.int64)
