"""What the devices did: busy and idle, what ran at once, why they were idle, and how far ahead the host was."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import covered, on_devices
from summarykit.profiler.analysis.intervals import shares
from summarykit.profiler.analysis.launching import launch_times
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array, Ints

RUNS = (Category.KERNEL, Category.COMMUNICATION, Category.MEMCPY, Category.MEMSET)
CLOSE = 30_000
"""A gap below this many ns is the device's own: it could not begin the next kernel sooner."""


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
    spans = recording.spans
    rows = [_use(spans, number, chosen, window) for number, chosen in _devices(spans)]
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
    spans, device = recording.spans, on_devices(recording.spans)
    roles = {
        "kernel": spans.of(Category.KERNEL),
        "memcpy": spans.of(Category.MEMCPY),
        "memset": spans.of(Category.MEMSET),
        "communication": spans.of(Category.COMMUNICATION),
        "runtime": spans.of(Category.RUNTIME) & ~device,
        "data": spans.of(Category.DATA),
        "host": spans.of(Category.HOST_OP, Category.USER) & ~device,
    }
    found = shares(((name, covered(spans, chosen)) for name, chosen in roles.items()), steps["start"], steps["end"])
    return Table(step=steps["step"], **{name: time / 1e6 for name, time in found.items()}, total=steps["duration"])


def idle(recording: Recording, window: tuple[int, int]) -> Table:
    """Why each stream had nothing to do between two kernels.

    Returns:
        ``device``, ``stream``, ``cause``, ``count`` of gaps, ``time`` (ms). Causes: ``host`` (the next launch came after the stream had
        finished), ``launch`` (shorter than 30 µs: the device's own latency), ``other`` (it waited for another stream, or nothing is known
        of the launch).
    """
    spans = recording.spans
    start, end = window
    inside = on_devices(spans) & spans.of(*RUNS) & (spans.start >= start) & (spans.start < end)
    chosen = np.flatnonzero(inside)
    chosen = chosen[np.lexsort((spans.start[chosen], spans.lane[chosen]))]
    reach = _reach(spans, chosen)
    gap = spans.start[chosen][1:] - reach[:-1]
    counted = (spans.lane[chosen][1:] == spans.lane[chosen][:-1]) & (gap > 0)
    launch = launch_times(spans)[chosen][1:]
    cause = np.where(launch > reach[:-1], 0, np.where(gap < CLOSE, 1, 2))
    return _causes(spans, spans.lane[chosen][1:][counted], cause[counted], gap[counted])


def queue(recording: Recording) -> Table:
    """How many launches a stream has not begun yet, looked at with every launch and start.

    Returns:
        ``device``, ``stream``, ``count`` of looks, ``mean``, ``median``, ``max``, ``empty`` (share of starts that leave none waiting).
    """
    spans = recording.spans
    launched = launch_times(spans)
    device = np.flatnonzero(on_devices(spans) & spans.of(*RUNS) & (launched >= 0))
    rows = []
    for lane in np.unique(spans.lane[device]).tolist():
        here = device[spans.lane[device] == lane]
        time, change = np.append(launched[here], spans.start[here]), np.repeat([1, -1], len(here))
        order = np.argsort(time, kind="stable")
        length, starts = np.cumsum(change[order]), change[order] < 0
        row = spans.lanes[lane]
        rows.append((row.process, row.thread, len(length), length.mean(), np.median(length), length.max(), (length[starts] == 0).mean()))
    names = ("device", "stream", "count", "mean", "median", "max", "empty")
    return Table(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))


def _devices(spans: Spans) -> list[tuple[int, Array]]:
    """The number of each device and which spans ran there."""
    process = np.array([lane.process for lane in spans.lanes] or [0])[spans.lane]
    running = on_devices(spans) & spans.of(*RUNS)
    return [(number, running & (process == number)) for number in np.unique(process[running]).tolist()]


def _use(spans: Spans, number: int, chosen: Array, window: tuple[int, int]) -> tuple[float, ...]:
    kinds = {name: covered(spans, chosen & spans.of(*categories)) for name, categories in _KINDS.items()}
    edges = np.array([window[0]]), np.array([window[1]])
    busy = covered(spans, chosen).within(*edges)[0]
    compute, communication, memory = (kinds[name].within(*edges)[0] for name in _KINDS)
    overlap = (kinds["communication"] & kinds["compute"]).within(*edges)[0]
    span = window[1] - window[0]
    times = (span, busy, span - busy, compute, communication, memory, overlap)
    return (number, *(time / 1e6 for time in times), busy / span if span else 0.0, overlap / communication if communication else np.nan)


_KINDS = {
    "compute": (Category.KERNEL,),
    "communication": (Category.COMMUNICATION,),
    "memory": (Category.MEMCPY, Category.MEMSET),
}
_CAUSES = np.array(["host", "launch", "other"], object)


def _reach(spans: Spans, chosen: Ints) -> Ints:
    """The latest end so far in the lane of each."""
    end, lane = spans.start[chosen] + spans.duration[chosen], spans.lane[chosen].astype(np.int64)
    if not len(end):
        return end
    base, width = end.min(), int(end.max() - end.min()) + 1
    return np.maximum.accumulate(end - base + lane * width) - lane * width + base


def _causes(spans: Spans, lane: Array, cause: Array, gap: Ints) -> Table:
    keys, place = np.unique(lane.astype(np.int64) * 3 + cause, return_inverse=True)
    rows = [spans.lanes[key // 3] for key in keys.tolist()]
    return Table(
        device=np.array([row.process for row in rows], np.int64),
        stream=np.array([row.thread for row in rows], np.int64),
        cause=_CAUSES[keys % 3],
        count=np.bincount(place, minlength=len(keys)),
        time=np.bincount(place, gap, minlength=len(keys)) / 1e6,
    )
