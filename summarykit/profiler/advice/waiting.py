"""What is known of the wait for input: how long, who loads, and what may be gained where loading runs beside the training."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from summarykit.profiler.advice.evidence import cause, collected, step_time, worth
from summarykit.profiler.analysis.causes import roles
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

MOST_WORKERS = 16
_FETCHING = 1.2
"""Milliseconds that are left of a wait where processes load: of 59 ms in the recordings of ResNet-50 without and with workers that
torch-tb-profiler comes with; on a busy machine of batches of 16 small images, too (torch 2.13). A thread hands over next to nothing."""
_ALL = 0.97
"""Where less of the wait than that is lost, a device computes meanwhile, or memory is cleaned up."""


def waits(report: Report) -> Profile | None:
    """The profile of the rank that waits most, where something is to be gained that is worth a word."""
    found = [profile for profile in report.last if worth(profile, gained(profile))]
    return max(found, key=lambda profile: cause(profile, "data wait") / step_time(profile), default=None)


def loader(profile: Profile) -> dict[str, Any]:
    """What our records say of the data loader that was used; empty where that is not known."""
    found = collected(profile, "input").get("loaders")
    return found[-1] if isinstance(found, list) and found and isinstance(found[-1], dict) else {}


def by_processes(profile: Profile) -> bool:
    """Whether it would be the worker processes of PyTorch that load ahead; else it is a thread, or the framework's own pipeline."""
    return profile.recording.source == "kineto" or "torch" in profile.recording.meta.get("frameworks", ())


def gained(profile: Profile, workers: float = np.inf) -> float:
    """What a step takes less where so many workers load beside the training.

    A step then lasts as long as the slowest of: what is left of it, the workers' time for a batch, and all that processors have to do
    divided among them. To fetch a batch from another process is left.
    """
    wait, step, fetching = cause(profile, "data wait"), step_time(profile), _FETCHING * by_processes(profile)
    left = max(step - wait + fetching, wait / workers, _computing(profile))
    return max(step - left, 0.0)


def needed(profile: Profile) -> int:
    """How many workers load a batch as fast as the training takes one, with a tenth to spare; no more than there are cores."""
    wait, step, cores = cause(profile, "data wait"), step_time(profile), collected(profile, "system").get("cores_allowed")
    most = max(cores, 2) if isinstance(cores, int) else MOST_WORKERS
    return min(ceil(1.1 * wait / max(step - wait, wait / MOST_WORKERS)), most)


def _computing(profile: Profile) -> float:
    """Milliseconds a step that all cores need at least for what this process and its workers compute; 0 where that is not known."""
    cores, found = collected(profile, "system").get("cores_allowed"), profile.counters
    busy = sum(float(found["mean"][found["counter"] == name].sum()) for name in ("process/cpu", "workers/cpu")) if found.rows else 0.0
    return busy / 100 * step_time(profile) / cores if isinstance(cores, int) and cores > 0 else 0.0


def told(profile: Profile) -> str:
    """The figures, and what is known of the cause."""
    wait, lost = profile.input, cause(profile, "data wait")
    whole = float(profile.usual_phases["data wait"].mean())
    beside = f" in which nothing else goes on, of {number(whole)}" if lost < _ALL * whole else ""
    figures = f"{number(lost)} ms a step{beside} (median {number(wait['median'])}, p99 {number(wait['p99'])})"
    first = f", the first time {number(wait['first'])}" if wait["first"] else ""
    return f"{figures}{first}{_stage(profile)}{_line(profile)}"


def _stage(profile: Profile) -> str:
    """The stage of the pipeline that is slow."""
    found = profile.pipeline
    slow = np.flatnonzero(found["slowest"]).tolist() if found.rows else []
    if not slow:
        return ""
    time = number(float(found["time"][slow[0]]))
    return f"; the slowest stage is {found['name'][slow[0]]}{f' ({time} ms an item)' if time else ''}"


def _line(profile: Profile) -> str:
    """Where Python is meanwhile."""
    samples = profile.samples
    line, share = samples.line(samples.during(roles(profile.recording, profile.usual)["data wait"]))
    return f"; {share:.0%} of it in {line}" if share >= 0.2 else ""
