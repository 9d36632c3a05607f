"""``profiler_info_<d>.json``: by it MindInsight finds the devices."""

from __future__ import annotations

from summarykit.profiler.intermediate.target import Target
from summarykit.profiler.recording import Recording


def write(recording: Recording, target: Target) -> None:
    """Write the file, for MindInsight 2."""
    if target.dialect.kernel_words:
        target.json("profiler_info_{}.json", {
            "context_mode": "graph", "rank_id": target.device, "device_id": target.device, "rank_size": recording.world_size,
            "parallel_mode": "data_parallel" if recording.world_size > 1 else "stand_alone", "stage_num": 1, "library": "summarykit",
        })
