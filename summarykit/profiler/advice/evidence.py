"""What rules count: milliseconds of the usual step, each of them once."""

from __future__ import annotations

import re
from typing import Any

from summarykit.profiler.analysis.causes import roles
from summarykit.profiler.analysis.intervals import NEVER, Intervals
from summarykit.profiler.analysis.phases import phase_times
from summarykit.profiler.analysis.profile import Profile

NOTICEABLE = 0.05
"""Share of the step time from which on a rule speaks."""

WAITS = re.compile(r"(.*\.)?(\w*synchroni[sz]e\w*|\w*sync|block_until_ready|effects_barrier|asnumpy|item|wait|result|join|acquire) \(")
"""Frames that wait for something; the wait for data is not among what samples are asked about."""

WRITES = re.compile(
    r"(.*\.)?(print|write|writelines|flush|fsync|dump|dumps|save|savefig|to_csv|emit|commit|log|log_\w+|_?write_\w+|add_(scalars?|image|"
    r"images|histogram|figure|text)) \(|.*[\\/]logging[\\/]__init__\.py:"
)
"""Frames that write something."""

_STRETCHES = ("transfer", "optimizer", "backward", "forward")


def step_time(profile: Profile) -> float:
    """Mean of the usual steps in ms; 0 without steps."""
    return float(profile.usual["duration"].mean()) if profile.usual.rows else 0.0


def cause(profile: Profile, name: str) -> float:
    """Mean of one of the causes in ms a step; see ``causes.causes``."""
    return float(profile.causes[name].mean()) if profile.usual.rows else 0.0


def worth(profile: Profile, milliseconds: float, share: float = NOTICEABLE) -> bool:
    """Whether so much of a step is worth a word."""
    return milliseconds > share * step_time(profile) > 0


def gain(profile: Profile, milliseconds: float) -> dict[str, Any]:
    """The fields of an advice that promises so much a step."""
    step = step_time(profile)
    return {"gain_ms": milliseconds, "gain": milliseconds / step if step else 0.0}


def collected(profile: Profile, name: str) -> dict[str, Any]:
    """What one of our collectors says of itself; empty where it was not on."""
    found = profile.recording.meta.get("collected")
    told = found.get(name) if isinstance(found, dict) else None
    return told if isinstance(told, dict) else {}


def sampled(profile: Profile, pattern: re.Pattern[str]) -> tuple[float, str]:
    """What the usual steps spend below a function that the pattern names, outside of all causes, by samples of the stacks.

    Phases are measured to the nanosecond, samples count: so in each phase samples only tell the share of its time.

    Returns:
        ms a step, and the line of the program that most of it comes from.
    """
    samples, passing = profile.samples, profile.samples.passing(pattern)
    total, counted = 0.0, passing & False
    for stretch in _stretches(profile) if passing.any() else ():
        here = samples.during(stretch)
        if here.any():
            total += stretch.total * float(passing[here].mean())
            counted |= passing & here
    return total / 1e6 / max(profile.usual.rows, 1), samples.line(counted)[0]


def _stretches(profile: Profile) -> list[Intervals]:
    """The usual steps in pieces of one phase each, without the causes and communication."""
    steps, phases = profile.usual, phase_times(profile.recording, profile.usual)
    left, found = Intervals.union(steps["start"], steps["end"]) - phases.get("communication", NEVER), []
    for taken in roles(profile.recording, steps).values():
        left = left - taken
    for name in _STRETCHES:
        found.append(left & phases.get(name, NEVER))
        left = left - phases.get(name, NEVER)
    return [*found, left]
