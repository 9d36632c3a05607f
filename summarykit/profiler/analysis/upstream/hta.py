"""What a device did, as HolisticTraceAnalysis 0.5.0 counts it, in µs.

What is different from ours: where there are two steps or more, what was launched in the last one or after it is left out; times with
decimals are rounded inwards to whole microseconds; synchronisation events are taken for kernels ("Stream Wait Event" even for computation);
gaps between kernels of one stream may be negative. Synchronisation of a whole context, which traces of 2023 give to stream 4294967295 and
later ones to stream -1, is not counted here; it takes the former for a stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce
from itertools import combinations
from operator import and_, sub

import numpy as np

from summarykit.profiler.analysis.choosing import named, on_devices
from summarykit.profiler.analysis.intervals import Intervals
from summarykit.profiler.analysis.launching import Calls
from summarykit.profiler.analysis.upstream.rounding import ends
from summarykit.profiler.recording import Category, Recording, Table
from summarykit.shapes import Array, Ints

_COMMUNICATION = re.compile(r"^nccl.*Kernel")
_MEMORY = re.compile(r"^Memcpy|^Memset|^dma")
_NO_COMPUTATION = re.compile(r"(^nccl.*Kernel)|(.*(Memcpy)|(Memset))|(.*Sync)")
_TYPES = ("COMPUTATION", "COMMUNICATION", "MEMORY")
_LAUNCHES = (
    *("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync"),
    *("runFunction - job_prep_and_submit_for_execution", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemsetAsync"),
    *("hipMemcpyAsync", "hipMemcpyWithStream"),
)
_KERNELS = (Category.KERNEL, Category.COMMUNICATION, Category.MEMCPY, Category.MEMSET)
_CLOSE = 30
"""A gap below this many µs is the device's own."""


class Device:
    """What it counts of a device.

    Attributes:
        chosen: int64 indexes of the spans.
        start: int64 µs.
        end: int64 µs.
        kind: object, one of ``"COMPUTATION"``, ``"COMMUNICATION"``, ``"MEMORY"``, ``"OTHER"``.
    """

    def __init__(self, recording: Recording) -> None:
        """Choose the spans."""
        spans = recording.spans
        streams = np.array([lane.thread for lane in spans.lanes] or [-1])[spans.lane]
        counted = on_devices(spans) & spans.of(*_KERNELS, Category.RUNTIME) & (streams >= 0) & (spans.correlation >= 0)
        counted &= _launched_in_whole_steps(recording, counted)
        self.chosen = np.flatnonzero(counted)
        self.start, self.end = -(-spans.start[self.chosen] // 1000), ends(spans)[self.chosen] // 1000
        self.kind = np.array([_kind(name) for name in spans.names] or [""], object)[spans.name[self.chosen]]
        self.stream = streams[self.chosen]

    def covered(self, kind: str) -> Intervals:
        """When something of that kind ran; a kind of ``""`` is any."""
        here = self.kind == kind if kind else np.ones(len(self.kind), np.bool_)
        return Intervals.union(self.start[here], self.end[here])


def temporal_breakdown(recording: Recording) -> Table:
    """One row (none without a device): ``idle_time``, ``compute_time``, ``non_compute_time``, ``kernel_time`` (first start to last end)."""
    device = Device(recording)
    busy = device.covered("")
    if not len(busy):
        return Table()
    span, compute = int(busy.end[-1] - busy.start[0]), device.covered("COMPUTATION").total
    values = (span - busy.total, compute, busy.total - compute, span)
    return Table(zip(("idle_time", "compute_time", "non_compute_time", "kernel_time"), np.array(values).reshape(-1, 1), strict=True))


def overlap(recording: Recording) -> float:
    """The share of the communication during which something was computed; NaN without communication."""
    device = Device(recording)
    communication = device.covered("COMMUNICATION")
    both = (communication & device.covered("COMPUTATION")).total
    return both / communication.total if len(communication) else float("nan")


def kernel_types(recordings: Iterable[Recording]) -> dict[str, int]:
    """Over all ranks, how long each kind of kernel ran alone, and each pair at once (``"COMPUTATION overlapping MEMORY"``)."""
    found: dict[str, int] = {}
    for recording in recordings:
        device = Device(recording)
        for name, time in _alone_and_together({kind: device.covered(kind) for kind in _TYPES}):
            found[name] = found.get(name, 0) + time
    return {name: time for name, time in found.items() if time}


def idle_time(recording: Recording) -> Table:
    """The gaps in each stream by cause: ``stream``, ``idle_category`` (``host_wait``, ``kernel_wait``, ``other``), ``idle_time``."""
    spans, device = recording.spans, Device(recording)
    kernels = spans.of(*_KERNELS)[device.chosen]
    launched = _microseconds(Calls(spans).times(spans.correlation))
    rows: list[tuple[int, str, int]] = []
    for stream in np.unique(device.stream[kernels]).tolist():
        here = np.flatnonzero(kernels & (device.stream == stream))
        here = here[np.argsort(device.start[here], kind="stable")]
        gap, before = device.start[here][1:] - device.end[here][:-1], device.end[here][:-1]
        launch = launched[device.chosen[here]][1:]
        host = launch > before
        close = ~host & (gap < _CLOSE)
        rows += [(stream, name, int(gap[mask].sum())) for name, mask in _causes(host, close)]
    stream, category, time = zip(*rows, strict=True) if rows else ((), (), ())
    return Table(stream=np.array(stream, np.int64), idle_category=np.array(category, object), idle_time=np.array(time, np.int64))


def queue_length(recording: Recording) -> Table:
    """How many launches a stream has not begun yet, at each launch and each start: ``stream`` and the columns of pandas' ``describe()``."""
    spans, device = recording.spans, Device(recording)
    launched = _microseconds(Calls(spans, named(spans, _LAUNCHES)).times(spans.correlation))[device.chosen]
    rows = []
    for stream in np.unique(device.stream).tolist():
        here = (device.stream == stream) & (launched >= 0)
        time = np.append(launched[here], device.start[here])
        change = np.repeat([1, -1], int(here.sum()))
        length = np.cumsum(change[np.argsort(time, kind="stable")])
        if len(length):
            spread = length.std(ddof=1)
            rows.append((stream, len(length), length.mean(), spread, *np.percentile(length, (0, 25, 50, 75, 100))))
    names = ("stream", "count", "mean", "std", "min", "25%", "50%", "75%", "max")
    return Table(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))


def _launched_in_whole_steps(recording: Recording, device: Array) -> Array:
    spans = recording.spans
    steps = np.flatnonzero(spans.of(Category.STEP))
    if len(np.unique(spans.name[steps])) < 2:
        return np.ones(len(spans), np.bool_)
    before = ~device & (spans.start < spans.start[steps].max())
    return np.isin(spans.correlation, spans.correlation[before])


def _microseconds(time: Ints) -> Ints:
    return np.where(time >= 0, -(-time // 1000), -1)


def _causes(host: Array, close: Array) -> list[tuple[str, Array]]:
    named = [("host_wait", host), ("kernel_wait", close)]
    return [(name, mask) for name, mask in named if mask.any()] + [("other", ~host & ~close)]


def _alone_and_together(kinds: dict[str, Intervals]) -> Iterable[tuple[str, int]]:
    """Each kind without the others, each pair without the third, and all at once."""
    for count in range(1, len(kinds) + 1):
        for names in combinations(kinds, count):
            both = reduce(and_, (kinds[name] for name in names))
            yield " overlapping ".join(names), reduce(sub, (kinds[name] for name in kinds if name not in names), both).total


def _kind(name: str) -> str:
    if _COMMUNICATION.match(name):
        return "COMMUNICATION"
    if _MEMORY.match(name):
        return "MEMORY"
    return "OTHER" if _NO_COMPUTATION.match(name) else "COMPUTATION"
