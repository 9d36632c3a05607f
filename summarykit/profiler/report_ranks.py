"""Ranks beside each other, as texts: for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summarykit.profiler.sheet import number, share

if TYPE_CHECKING:
    from summarykit.profiler.analysis.profile import Profile
    from summarykit.profiler.analysis.report import Report


def ranks(report: Report) -> tuple[list[str], list[list[str]]]:
    """Titles of columns, and a row a rank, times in ms a step; no rows where there is one rank, or no steps."""
    late = report.stragglers
    header = ["rank", "step", "data wait", "communication", *(["last to come", "late by"] if late.rows else []), "<"]
    if len(report.last) < 2 or not any(profile.steps.rows for profile in report.last):
        return header, []
    rows = []
    for place, profile in enumerate(report.last):
        figures = [profile.step_times.get("mean", float("nan")), phase_mean(profile, "data wait"), phase_mean(profile, "communication")]
        told = [share(late["last"][place]), number(late["lateness"][place])] if late.rows else []
        named = "<- the others wait for it" if late.rows and late["straggler"][place] else ""
        rows.append([str(profile.recording.rank), *map(number, figures), *told, named])
    return header, rows


def phase_mean(profile: Profile, phase: str) -> float:
    """Milliseconds of a phase in a step on average; NaN without steps."""
    return float(profile.phases[phase].mean()) if profile.steps.rows else float("nan")
