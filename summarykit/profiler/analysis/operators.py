"""Which operators take the time: on the host by total and own time, on the device by total time."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.choosing import on_devices
from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.analysis.launching import launched_by
from summarykit.profiler.analysis.nesting import Nesting, outermost
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
    host = np.flatnonzero(spans.of(*HOST) & ~on_device)
    device = np.flatnonzero(spans.of(*DEVICE) & on_device)
    nesting = Nesting(spans, host)
    launched = _launched(spans, nesting, len(host), device)
    rows = [
        _side(spans, host, "host", nesting.self_time, outermost(spans.name[host], nesting.above), launched),
        _side(spans, device, "device", spans.duration[device], np.ones(len(device), np.bool_), spans.duration[device]),
    ]
    found = Table({name: np.concatenate([row[name] for row in rows]) for name in rows[0]})
    return found if found.rows else recording.tables.get("operators", found)


def _side(spans: Spans, chosen: Ints, side: str, own: Ints, counted: Array, device: Ints) -> Table:
    groups, duration = Groups(spans.name[chosen].astype(np.int64) * 32 + spans.category[chosen]), spans.duration[chosen]
    total, self_time = groups.sum(np.where(counted, duration, 0)), groups.sum(own)
    p50, p99 = groups.percentile(duration, 50, 99)
    found = Table(
        name=np.array([spans.names[key >> 5] for key in groups.keys.tolist()], object),
        type=np.array([Category(key & 31).name.lower() for key in groups.keys.tolist()], object),
        side=np.full(len(groups.keys), side, object),
        count=groups.count,
        total=total * _NS,
        self=self_time * _NS,
        mean=groups.sum(duration) * _NS / groups.count,
        min=groups.min(duration) * _NS,
        p50=p50 * _NS,
        p99=p99 * _NS,
        max=groups.max(duration) * _NS,
        device=groups.sum(device) * _NS,
        share=self_time / max(int(self_time.sum()), 1),
    )
    order = np.argsort(-found["self"], kind="stable")
    return Table({name: column[order] for name, column in found.items()})


def _launched(spans: Spans, nesting: Nesting, count: int, device: Ints) -> Ints:
    """Device time that each host operator launched itself: by the innermost operator around the call that launched it."""
    found = np.zeros(count, np.int64)
    call = launched_by(spans)[device]
    device, call = device[call >= 0], call[call >= 0]
    around = nesting.around(spans.lane[call], spans.start[call])
    inside = around >= 0
    np.add.at(found, around[inside], spans.duration[device[inside]])
    return found
