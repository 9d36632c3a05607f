"""The split of a step as torch-tb-profiler 0.4.3 counts it (``overall_parser.py``, ``event_parser.py``), in µs.

What is different from ours: a step lasts until the last kernel that it launched has ended; a last step that launched less than 80 % of the
kernels of the one before is left out; calls into the driver count only in the words of 2021 (``Runtime``), and annotations of later traces
(``user_annotation``) count neither as data loading nor as operators.
"""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import named, on_devices
from summarykit.profiler.analysis.intervals import Intervals, shares
from summarykit.profiler.analysis.launching import Calls
from summarykit.profiler.analysis.upstream.rounding import ends
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array, Ints

ROLES = ("kernel", "memcpy", "memset", "comm", "runtime", "dataloader", "cpuop", "other")
_CALLS = ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")
_COLLECTIVES = {f"{library}:{call}" for library in ("nccl", "gloo") for call in _CALLS}
_DEVICE = (Category.KERNEL, Category.COMMUNICATION, Category.MEMCPY, Category.MEMSET)


def overall(recording: Recording) -> Table:
    """The split of each step: ``step`` and, in µs, each of ``ROLES`` and ``total``."""
    number, start, end = steps(recording)
    roles = {name: _covered(recording.spans, chosen) for name, chosen in _roles(recording).items()}
    found = shares(roles, start, end) | {"total": end - start}
    return Table(step=number, **{name: column / 1000 for name, column in found.items()})


def gpu_metrics(recording: Recording) -> Table:
    """Per device over all steps: ``device``, ``utilization`` and ``sm_efficiency`` in [0, 1], ``occupancy`` in %; NaN where unknown."""
    _, start, end = steps(recording)
    kernels = recording.tables.get("kernels", Table())
    devices = np.unique(kernels["device"][~np.isnan(kernels["device"])]) if kernels else np.empty(0)
    rows = [_gpu(recording, kernels, device, int(start[0]), int(end[-1])) for device in devices.tolist()]
    utilization, efficiency, occupancy = zip(*rows, strict=True) if rows else ((), (), ())
    return Table(
        device=devices.astype(np.int64),
        utilization=np.array(utilization, float),
        sm_efficiency=np.array(efficiency, float),
        occupancy=np.array(occupancy, float),
    )


def steps(recording: Recording) -> tuple[Ints, Ints, Ints]:
    """Number, start and end in ns of the steps that it counts; without any, one from the first operator to the last, of number 0."""
    found = recording.tables.get("steps")
    if found is None or not found.rows:
        chosen = np.flatnonzero(_is_host_op(recording))
        start, end = recording.spans.start[chosen], ends(recording.spans)[chosen]
        host = (np.array([0]), start.min(initial=2**62, keepdims=True), end.max(initial=-(2**62), keepdims=True))
    else:
        host = (found["step"], *_steps(recording.spans))
    return _until_the_device_is_done(recording, *host)


def _until_the_device_is_done(recording: Recording, number: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    spans = recording.spans
    device, step = _launched(recording, start, end)
    if not len(device):
        return number, start, end
    first, last, count = np.full(len(start), 2**62), np.full(len(start), -(2**62)), np.bincount(step, minlength=len(start))
    np.minimum.at(first, step, spans.start[device])
    np.maximum.at(last, step, ends(spans)[device])
    before = _before(spans, device, int(start[0]), int(first[0]))
    start, end = start.copy(), end.copy()
    for place in range(len(start)):
        start[place] = max(before, start[place])
        end[place] = before = max(end[place], last[place], start[place])
    kept = _complete(count)
    return number[:kept], start[:kept], end[:kept]


def _launched(recording: Recording, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """The device's spans that were launched by a call within a step, and that step."""
    spans = recording.spans
    step = np.searchsorted(start, spans.start, side="right") - 1
    inside = (step >= 0) & (ends(spans) <= end[step]) & ("runtime" in _words(recording))
    call = Calls(spans, inside).behind(spans.correlation)
    device = np.flatnonzero(spans.of(*_DEVICE) & on_devices(spans) & (call >= 0))
    return device, step[call[device]]


def _before(spans: Spans, launched: Ints, start: int, first: int) -> int:
    """When the device had done what was launched before the first step."""
    others = spans.of(*_DEVICE) & on_devices(spans)
    others[launched] = False
    end = ends(spans)[others]
    return int(end[end < first].max(initial=start)) if first < 2**62 else start


def _complete(count: Ints) -> int:
    """How many steps to keep, by the number of kernels that each launched."""
    last = int(np.flatnonzero(count)[-1])
    return last if len(count) > 1 and last > 0 and count[last - 1] * 0.8 > count[last] else last + 1


def _roles(recording: Recording) -> dict[str, Array]:
    spans, words, device = recording.spans, _words(recording), on_devices(recording.spans)
    collective = named(spans, _COLLECTIVES) & ~device
    kernel = spans.of(Category.KERNEL, Category.COMMUNICATION) & device
    comm = np.zeros(len(spans), np.bool_)
    comm[np.flatnonzero(kernel)] = spans.of(Category.COMMUNICATION)[kernel]
    data = spans.of(Category.DATA) & ("user_annotation" not in words)
    return {
        "kernel": kernel & ~comm,
        "memcpy": spans.of(Category.MEMCPY),
        "memset": spans.of(Category.MEMSET),
        "comm": comm | collective,
        "runtime": spans.of(Category.RUNTIME) & ~device & ("runtime" in words),
        "dataloader": data,
        "cpuop": _is_host_op(recording) & ~data & ~collective & ~spans.of(Category.STEP),
    }


def _is_host_op(recording: Recording) -> Array:
    """What it takes for an operator of the host, steps and data loading of 2021 among them."""
    spans, words = recording.spans, _words(recording)
    annotated = [name for name in spans.names if name.startswith(("nccl:", "gloo:"))]
    found = spans.of(Category.HOST_OP) | spans.of(Category.COMMUNICATION) & ~on_devices(spans) & ~named(spans, annotated)
    return found | spans.of(Category.STEP) | spans.of(Category.DATA) & ("user_annotation" not in words)


def _words(recording: Recording) -> set[str]:
    return {word.lower() for word in recording.meta.get("words", ())}


def _covered(spans: Spans, chosen: Array) -> Intervals:
    return Intervals.union(spans.start[chosen], ends(spans)[chosen])


def _steps(spans: Spans) -> tuple[Ints, Ints]:
    chosen = np.flatnonzero(spans.of(Category.STEP))
    chosen = chosen[np.argsort(spans.start[chosen], kind="stable")]
    return spans.start[chosen], ends(spans)[chosen]


def _gpu(recording: Recording, kernels: Table, device: float, start: int, end: int) -> tuple[float, float, float]:
    spans, here = recording.spans, kernels["device"] == device
    chosen = kernels["span"][here]
    begun, ended = spans.start[chosen], ends(spans)[chosen]
    busy = Intervals.union(begun, ended).within(np.array([start]), np.array([end]))[0] / (end - start)
    inside = (np.minimum(ended, end) - np.maximum(begun, start)).clip(0)
    occupancy, known = kernels["occupancy"][here], ~np.isnan(kernels["occupancy"][here])
    weight = inside[known].sum()
    average = float((occupancy[known] * inside[known]).sum() / weight) if weight else np.nan
    return float(busy), _efficiency(begun, ended, kernels["blocks_per_sm"][here], start, end), average


def _efficiency(begun: Ints, ended: Ints, blocks: Array, start: int, end: int) -> float:
    """Blocks per multiprocessor of what runs at a moment, at most 1, averaged over the time."""
    known = blocks > 0
    if not known.any():
        return float("nan")
    time, change = np.append(begun[known], ended[known]), np.append(blocks[known], -blocks[known])
    order = np.argsort(time, kind="stable")
    level, time = np.minimum(np.cumsum(change[order]), 1.0).clip(0), time[order].clip(start, end)
    return float((level[:-1] * np.diff(time)).sum() / (end - start))
