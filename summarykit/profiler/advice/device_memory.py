"""A device's memory is nearly full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import collected
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report

_MOST = 0.9


def check(report: Report) -> Iterator[Advice]:
    """Say so for each device of which the size is known."""
    for profile in report.last:
        sizes = {each.get("id"): each.get("totalGlobalMem", 0) for each in _devices(profile)}
        for device, peak in zip(*(profile.memory.get(name, ()) for name in ("device", "peak")), strict=True):
            size = sizes.get(int(device), 0)
            if size and peak > _MOST * size:
                yield Advice(
                    rule="device_memory",
                    title=f"device {int(device)} had {peak / size:.0%} of its memory allocated",
                    evidence=f"{peak / 1e9:.3g} of {size / 1e9:.3g} GB",
                    change="smaller batches, activation checkpointing, mixed precision: near the limit the allocator frees and asks again",
                    check="peak below 90 %",
                    confidence="high",
                )


def _devices(profile: Profile) -> list[dict[str, Any]]:
    """What a trace tells of its devices, or our collector."""
    found = profile.recording.meta.get("deviceProperties") or collected(profile, "cuda_memory").get("devices")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
