"""A report for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from summarykit.profiler.analysis.profile import Profile
    from summarykit.profiler.analysis.report import Report


def text(report: Report) -> str:
    """The report as JSON in ASCII; what is no finite number is ``null``."""
    return json.dumps(document(report), allow_nan=False)


def document(report: Report) -> dict[str, Any]:
    """The report as what JSON has: tables are objects of lists.

    Returns:
        ``ranks`` (a list: ``rank``, ``path``, ``source``, ``step_times``, ``input``, and every table of a ``Profile`` by name),
        ``stragglers``, ``advice``, ``costs``, ``skipped``.
    """
    found = {
        "ranks": [_profile(profile) for profile in report.profiles],
        "stragglers": report.stragglers,
        "advice": [asdict(advice) for advice in report.advice],
        "costs": report.costs,
        "skipped": dict(report.skipped),
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _profile(profile: Profile) -> dict[str, Any]:
    recording = profile.recording
    about = {"rank": recording.rank, "world_size": recording.world_size, "path": str(recording.path), "source": recording.source}
    numbers = {"step_times": profile.step_times, "input": profile.input}
    return {**about, **numbers, **{name: profile.table(name) for name in profile.TABLES}}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(each) for each in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
