"""Memory over time, by device: what was allocated, its peak, and whether it grows from step to step."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.recording import Recording, Table
from summarykit.shapes import Array, Floats


def memory_times(recording: Recording) -> Table:
    """Allocated bytes over time; where the writer gave no totals they are counted from the beginning of the recording.

    Returns:
        ``time`` (ns), ``device`` (-1 for the host), ``allocated``.
    """
    found = recording.tables.get("memory", Table())
    if not found.rows:
        return Table(time=np.empty(0, np.int64), device=np.empty(0, np.int64), allocated=np.empty(0))
    order = np.argsort(found["time"], kind="stable")
    device, total = found["device"][order], found["allocated"][order].astype(np.float64)
    for number in np.unique(device).tolist():
        here = device == number
        if np.isnan(total[here]).all():
            total[here] = np.cumsum(np.nan_to_num(found["bytes"][order][here]))
    return Table(time=found["time"][order], device=device, allocated=total)


def memory(recording: Recording, steps: Table) -> Table:
    """Memory in numbers.

    Returns:
        A row a device: ``device`` (-1 for the host), ``peak`` (bytes), ``peak_step`` (-1 outside steps), ``last`` (bytes), ``allocations``,
        ``allocated`` (bytes, all of them added up), ``growth`` (bytes a step, by the ends of the steps; 0 with fewer than three).
    """
    times = memory_times(recording)
    sizes = recording.tables.get("memory", Table())
    rows = [_row(times, sizes, steps, number) for number in np.unique(times["device"]).tolist()]
    names = ("device", "peak", "peak_step", "last", "allocations", "allocated", "growth")
    return Table(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))


def _row(times: Table, sizes: Table, steps: Table, device: int) -> tuple[float, ...]:
    here = times["device"] == device
    time, total = times["time"][here], times["allocated"][here]
    known = np.nan_to_num(total)
    peak = int(np.argmax(known))
    grown = sizes["bytes"][(sizes["device"] == device) & (sizes["bytes"] > 0)]
    return (
        device,
        known[peak],
        _step_at(steps, time[peak]),
        known[-1],
        len(grown),
        grown.sum(),
        _growth(time, known, steps),
    )


def _step_at(steps: Table, time: int) -> int:
    place = int(np.searchsorted(steps["start"], time, side="right")) - 1
    return int(steps["step"][place]) if place >= 0 and time <= steps["end"][place] else -1


def _growth(time: Array, total: Floats, steps: Table) -> float:
    """Bytes a step: the middle slope of all pairs of ends (Theil and Sen), so that a jump is no growth."""
    place = np.searchsorted(time, steps["end"], side="right") - 1
    held = total[place[place >= 0]]
    if len(held) < 3:
        return 0.0
    held = held[-200:]
    first, second = np.triu_indices(len(held), 1)
    return float(np.median((held[second] - held[first]) / (second - first)))
