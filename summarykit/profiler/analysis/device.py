"""What the devices did: busy and idle, what ran at once, and how far ahead the host was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.analysis.choosing import RUNS, covered, of_lanes, on_devices
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.launching import Calls
from summarykit.profiler.analysis.parts import cut, parts, shared
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array, Ints

_KINDS = {
    "compute": (Category.KERNEL,),
    "communication": (Category.COMMUNICATION,),
    "memory": (Category.MEMCPY, Category.MEMSET),
}


def device_use(recording: Recording, window: tuple[int, int]) -> Table:
    """What each device did in a window.

    Args:
        recording: what was recorded.
        window: start and end in ns.

    Returns:
        A row a device: ``device``, ``span`` (the window's length), ``busy``, ``idle``, ``compute``, ``communication``, ``memory`` (copies
        and fills), ``overlap`` (communication while something is computed), all in ms; ``utilization`` (busy share of the window) and
        ``overlapped`` (share of the communication; NaN without).
    """
    start, end = cut(recording.spans, window)
    times = {number: np.zeros(2 + len(_KINDS), np.int64) for number, _ in _devices(recording.spans)}
    for some, spans in parts(recording.spans, start, end):
        for number, chosen in _devices(spans):
            times[number] += _use(spans, chosen, start[some], end[some])
    rows = [_row(number, window[1] - window[0], time) for number, time in times.items()]
    names = ("device", "span", "busy", "idle", "compute", "communication", "memory", "overlap", "utilization", "overlapped")
    found = Table(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))
    found["device"] = found["device"].astype(np.int64)
    return found


def split(recording: Recording, steps: Table) -> Table:
    """What is on in each step, every moment given to one of them, the first that is on.

    Returns:
        ``step``, and in ms ``kernel``, ``memcpy``, ``memset``, ``communication``, ``runtime`` (calls into the driver), ``data`` (loading),
        ``host`` (operators), ``other``, ``total``.
    """
    found = shared(recording.spans, _roles, steps["start"], steps["end"])
    return Table(step=steps["step"], **{name: time / 1e6 for name, time in found.items()}, total=steps["duration"])


def _roles(spans: Spans) -> Iterator[tuple[str, Intervals]]:
    device = on_devices(spans)
    yield "kernel", covered(spans, spans.of(Category.KERNEL))
    yield "memcpy", covered(spans, spans.of(Category.MEMCPY))
    yield "memset", covered(spans, spans.of(Category.MEMSET))
    yield "communication", covered(spans, spans.of(Category.COMMUNICATION))
    yield "runtime", covered(spans, spans.of(Category.RUNTIME) & ~device)
    yield "data", covered(spans, spans.of(Category.DATA))
    yield "host", covered(spans, spans.of(Category.HOST_OP, Category.USER) & ~device)


def queue(recording: Recording) -> Table:
    """How many launches a stream has not begun yet, looked at with every launch and start.

    Returns:
        ``device``, ``stream``, ``count`` of looks, ``mean``, ``median``, ``max``, ``empty`` (share of starts that leave none waiting).
    """
    spans, calls = recording.spans, Calls(recording.spans)
    device = np.flatnonzero(on_devices(spans) & spans.of(*RUNS)) if calls.any else np.empty(0, np.int64)
    launched = calls.times(spans.correlation[device])
    device, launched = device[launched >= 0], launched[launched >= 0]
    rows = []
    for lane in np.unique(spans.lane[device]).tolist():
        here = spans.lane[device] == lane
        time, change = np.append(launched[here], spans.start[device[here]]), np.repeat([1, -1], here.sum())
        order = np.argsort(time, kind="stable")
        length, starts = np.cumsum(change[order]), change[order] < 0
        row = spans.lanes[lane]
        rows.append((row.process, row.thread, len(length), length.mean(), np.median(length), length.max(), (length[starts] == 0).mean()))
    names = ("device", "stream", "count", "mean", "median", "max", "empty")
    return Table(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))


def _devices(spans: Spans) -> Iterator[tuple[int, Array]]:
    """The number of each device and which spans ran there."""
    running = on_devices(spans) & spans.of(*RUNS)
    for number in sorted({lane.process for lane in spans.lanes if lane.device}):
        chosen = running & of_lanes(spans, [lane.process == number for lane in spans.lanes])
        if chosen.any():
            yield number, chosen


def _use(spans: Spans, chosen: Array, start: Ints, end: Ints) -> Ints:
    """Nanoseconds of windows: busy, those of each kind, and communication while something is computed."""
    kinds = {name: covered(spans, chosen & spans.of(*categories)) for name, categories in _KINDS.items()}
    sets = (covered(spans, chosen), *kinds.values(), kinds["communication"] & kinds["compute"])
    return np.array([each.within(start, end).sum() for each in sets])


def _row(number: int, span: int, times: Ints) -> tuple[float, ...]:
    busy, compute, communication, memory, overlap = times.tolist()
    milliseconds = (time / 1e6 for time in (span, busy, span - busy, compute, communication, memory, overlap))
    return (number, *milliseconds, busy / span if span else 0.0, overlap / communication if communication else np.nan)
