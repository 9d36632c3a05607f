"""The clock of the device: its counter runs at 100 MHz in every Ascend file."""

from __future__ import annotations

NANOSECONDS_PER_TICK = 10
TICKS_PER_MILLISECOND = 100_000
