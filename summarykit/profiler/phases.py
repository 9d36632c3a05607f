"""The phases of a step, and the names that they are recorded by."""

from __future__ import annotations

from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Category

PHASES = ("data wait", "transfer", "forward", "backward", "optimizer", "communication", "logging")


def phase(name: str) -> int:
    """The number of the name of a phase."""
    return NAMES.number(name, Category.PHASE)


DATA_WAIT, TRANSFER, FORWARD, BACKWARD, OPTIMIZER, COMMUNICATION, LOGGING = map(phase, PHASES)
