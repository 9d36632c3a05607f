"""What a step waits for and need not: pauses, logging, input, devices that are asked too early. Every moment counts once."""

from __future__ import annotations

import re

from summarykit.profiler.analysis.choosing import RUNS, covered, matching, on_devices
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.parts import shared
from summarykit.profiler.analysis.phases import phase_times
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array

SYNC = re.compile(
    r"(cuda|hip|xpu|musa|acl|aclrt)?(Stream|Device|Event|Ctx|Context)_?Synchronize"
    r"|aten::(item|_local_scalar_dense)$|Tensor\.(item|tolist|cpu|numpy|asnumpy)$|\w*\.synchronize$|block_until_ready$",
    re.IGNORECASE,
)
"""Names of what keeps the host until a device is done."""


def causes(recording: Recording, steps: Table) -> Table:
    """Where the time of each step goes that another way to write the program would save.

    Returns:
        ``step`` and in ms ``busy`` (a device computes: whatever the host does meanwhile costs nothing), ``gc`` (pauses of Python's garbage
        collector), ``logging``, ``data wait``, ``sync`` (the host waits for a device that is done or has nothing to do), ``other``,
        ``total``.
    """
    phases = phase_times(recording, steps)
    found = shared(recording.spans, lambda spans: _roles(spans, phases), steps["start"], steps["end"])
    return Table(step=steps["step"], **{name: time / 1e6 for name, time in found.items()}, total=steps["duration"])


def roles(recording: Recording, steps: Table) -> dict[str, Intervals]:
    """When each of them was on; of two that are on together the first one counts."""
    return _roles(recording.spans, phase_times(recording, steps))


def _roles(spans: Spans, phases: dict[str, Intervals]) -> dict[str, Intervals]:
    device = on_devices(spans)
    return {
        "busy": covered(spans, device & spans.of(*RUNS)),
        "gc": covered(spans, spans.of(Category.GC)),
        "logging": phases["logging"],
        "data wait": phases["data wait"],
        "sync": covered(spans, syncs(spans) & ~device),
    }


def syncs(spans: Spans) -> Array:
    """Which spans are calls that wait for a device: bool, shape ``[n]``."""
    return spans.of(Category.RUNTIME, Category.HOST_OP) & ~on_devices(spans) & matching(spans, SYNC)
