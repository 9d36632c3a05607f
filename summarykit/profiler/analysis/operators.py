"""Which operators take the time: on the host by total and own time, on the device by total time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.analysis.choosing import on_devices
from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.analysis.launching import Calls
from summarykit.profiler.analysis.nesting import Nesting, outermost
from summarykit.profiler.analysis.parts import MOST, pieces
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array, Ints

HOST = (Category.HOST_OP, Category.DATA, Category.COMMUNICATION, Category.USER)
DEVICE = (Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION, Category.HOST_OP)    # the last: of an AI CPU
_NS = 1e-6


def operators(recording: Recording) -> Table:
    """Operators of host and device, those that take most of their side's time first.

    Returns:
        A row for each operator and side: ``name``, ``type`` (category), ``side`` (``"host"`` or ``"device"``), ``count``, and in ms
        ``total`` (what lies within an operator of the same name counts once), ``self`` (without the operators within), ``mean``, ``min``,
        ``p50``, ``p99``, ``max``, ``device`` (what it launched on the device); and ``share`` of the side's own time.
    """
    spans = recording.spans
    on_device = on_devices(spans)
    device = spans.of(*DEVICE) & on_device
    host = np.flatnonzero(spans.of(*HOST) & ~on_device)
    sides = [_host(spans, host, device), *(_device(spans, rows) for rows in _by_name(spans, device))]
    found = Table({name: np.concatenate([side[name] for side in sides]) for name in sides[0]})
    return _ranked(found) if found.rows else recording.tables.get("operators", found)


def _host(spans: Spans, chosen: Ints, device: Array) -> Table:
    nesting = Nesting(spans, chosen)
    launched = _launched(spans, nesting, len(chosen), device)
    return _side(spans, chosen, "host", nesting.self_time, outermost(spans.name[chosen], nesting.above), launched)


def _device(spans: Spans, chosen: Ints) -> Table:
    duration = spans.duration[chosen]
    return _side(spans, chosen, "device", duration, np.ones(len(chosen), np.bool_), duration)


def _by_name(spans: Spans, chosen: Array) -> Iterator[Ints]:
    """The chosen spans, those of some names at a time."""
    count = sum((np.bincount(spans.name[some][chosen[some]], minlength=len(spans.names)) for some in pieces(len(spans))), np.zeros(1, int))
    batch = ((np.cumsum(count) - count) // MOST).astype(np.int16)
    for number in np.unique(batch).tolist():
        yield np.flatnonzero(chosen & (batch == number)[spans.name])


def _side(spans: Spans, chosen: Ints, side: str, own: Ints, counted: Array, device: Ints) -> Table:
    groups, duration = Groups(spans.name[chosen].astype(np.int64) * 32 + spans.category[chosen]), spans.duration[chosen]
    p50, p99 = groups.percentile(duration, 50, 99)
    return Table(
        name=np.array([spans.names[key >> 5] for key in groups.keys.tolist()], object),
        type=np.array([Category(key & 31).name.lower() for key in groups.keys.tolist()], object),
        side=np.full(len(groups.keys), side, object),
        count=groups.count,
        total=groups.sum(np.where(counted, duration, 0)) * _NS,
        self=groups.sum(own) * _NS,
        mean=groups.sum(duration) * _NS / groups.count,
        min=groups.min(duration) * _NS,
        p50=p50 * _NS,
        p99=p99 * _NS,
        max=groups.max(duration) * _NS,
        device=groups.sum(device) * _NS,
    )


def _ranked(found: Table) -> Table:
    """The host first; of each side those first that take most of its time, and which share of it."""
    host = found["side"] == "host"
    whole = np.where(host, found["self"][host].sum(), found["self"][~host].sum())
    found["share"] = found["self"] / np.maximum(whole, _NS)
    order = np.lexsort((-found["self"], ~host))
    return Table({name: column[order] for name, column in found.items()})


def _launched(spans: Spans, nesting: Nesting, count: int, device: Array) -> Ints:
    """Device time that each host operator launched itself: by the innermost operator around the call that launched it."""
    found, calls = np.zeros(count, np.int64), Calls(spans)
    if not calls.any:
        return found
    launched = np.flatnonzero(device)
    call = calls.behind(spans.correlation[launched])
    launched, call = launched[call >= 0], call[call >= 0]
    around = nesting.around(spans.lane[call], spans.start[call])
    inside = around >= 0
    np.add.at(found, around[inside], spans.duration[launched[inside]])
    return found
