"""``{ascend,gpu}_cluster_analyse_data-parallel_1_<ranks>_<rank>.csv``: computation, and communication that it does not hide, by step."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import covered, on_devices
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.parts import shared
from summarykit.profiler.analysis.steps import steps as ordered_steps
from summarykit.profiler.intermediate.target import Target
from summarykit.profiler.recording import Category, Recording, Spans

HEADER = ("computation_time", "communication_alone_time")


def write(recording: Recording, target: Target) -> None:
    """Write the file, where several ranks with accelerators trained: MindInsight compares them by it."""
    steps = ordered_steps(recording)
    if recording.world_size < 2 or target.kind == "cpu" or not steps.rows:
        return
    found = shared(recording.spans, _device_times, steps["start"], steps["end"])
    times = [found[name] / 1e6 for name in ("computation", "communication")]
    body = np.round(np.stack(times, axis=1), 4)
    average = np.round(body[1:].mean(axis=0), 4) if len(body) > 1 else np.zeros(2)     # as of the steps: without the first
    name = f"{target.kind}_cluster_analyse_data-parallel_1_{recording.world_size}_{{}}.csv"
    target.csv(name, HEADER, [*body.tolist(), average.tolist()])


def _device_times(spans: Spans) -> dict[str, Intervals]:
    kinds = {"computation": Category.KERNEL, "communication": Category.COMMUNICATION}
    return {name: covered(spans, spans.of(kind) & on_devices(spans)) for name, kind in kinds.items()}
