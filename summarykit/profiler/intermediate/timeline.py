"""``{ascend,gpu,cpu}_timeline_display_<d>.json`` and ``…_summary_<d>.json``: what ran when, for MindInsight's picture of it (µs)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np

from summarykit.profiler.analysis.parts import pieces
from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Category, Recording, Spans
from summarykit.shapes import Array, Floats, Ints

LIMIT = 20 << 20          # bytes: MindInsight's page loads the file whole
AI_CPU, COMMUNICATION = 9_000, 10_000      # processes in the picture
_SHOWN = (Category.HOST_OP, Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION)


def write(recording: Recording, target: Target) -> None:
    """Write both files; nothing where nothing ran."""
    chosen = _chosen(recording, target)
    if not chosen.any():
        return
    if target.kind == "ascend":
        target.parts("output_timeline_data_{}.txt", _lines(recording, chosen, target))
    prefix = f"{target.kind}_" if target.dialect.kernel_words else ""
    target.text(prefix + "timeline_display_{}.json", _joined(_events(recording, chosen, target)))
    target.json(prefix + "timeline_summary_{}.json", summary(recording, chosen, target))


def _chosen(recording: Recording, target: Target) -> Array:
    """Which spans are shown: of a device those of operators that have a name."""
    spans = recording.spans
    chosen = spans.of(*_SHOWN)
    framework = recording.tables.get("framework")
    if target.kind == "ascend" and framework is not None:
        named = set(framework["full_op_name"].tolist())
        chosen &= np.array([name in named for name in spans.names] or [False])[spans.name] | (spans.category == Category.HOST_OP)
    return chosen


def _places(chosen: Array) -> Iterator[Ints]:
    """Where the chosen spans are, some at a time."""
    return (some.start + np.flatnonzero(chosen[some]) for some in pieces(len(chosen)))


def _lines(recording: Recording, chosen: Array, target: Target) -> Iterator[str]:
    """Milliseconds, until 0.5 from the first start on, later from the device's own zero."""
    spans = recording.spans
    chosen = chosen & (spans.category == Category.KERNEL)
    origin = 0 if target.dialect.duration_first or not chosen.any() else int(spans.start[chosen.argmax()])
    streams = [lane.thread for lane in spans.lanes]
    yield "op_name, stream_id, start_time(ms), duration(ms)\n"
    for places in _places(chosen):
        starts, durations = ((column / 1e6).tolist() for column in (spans.start[places] - origin, spans.duration[places]))
        names, lanes = spans.name[places].tolist(), spans.lane[places].tolist()
        for name, lane, start, duration in zip(names, lanes, starts, durations, strict=True):
            yield f"{spans.names[name]},{streams[lane]},{start},{duration}\n"


def summary(recording: Recording, chosen: Array, target: Target) -> dict[str, float]:
    """Numbers about what is shown: total_time (µs), num_of_streams, num_of_ops, op_exe_times."""
    spans = recording.spans
    numbers: dict[str, float] = {
        "total_time": sum(chain.from_iterable(_microseconds(spans.duration[places]).tolist() for places in _places(chosen))),
        "num_of_streams": len(np.unique(spans.lane[chosen])), "num_of_ops": len(np.unique(spans.name[chosen])),
        "op_exe_times": int(chosen.sum()),
    }
    return {**numbers, "max_scope_name_num": 0} if target.dialect.kernel_words else numbers


def _microseconds(nanoseconds: Ints) -> Floats:
    """By way of milliseconds, as upstream rounds."""
    return nanoseconds / 1e6 * 1e3


def _joined(events: Iterator[dict[str, Any]]) -> str:
    """The events as a JSON array, up to the limit."""
    parts, size = [], 2
    for event in events:
        parts.append(json.dumps(event))
        size += len(parts[-1]) + 1
        if size > LIMIT:
            parts.pop()
            break
    return f"[{','.join(parts)}]"


def _events(recording: Recording, chosen: Array, target: Target) -> Iterator[dict[str, Any]]:
    origin = int(recording.spans.start[chosen.argmax()])
    infos = _infos(recording)
    for places in _places(chosen):
        yield from _ran(recording.spans.take(places), origin, infos, target)
    yield from _communication(recording, origin)


def _ran(spans: Spans, origin: int, infos: dict[str, tuple[str, dict[str, Any]]], target: Target) -> Iterator[dict[str, Any]]:
    starts, durations = (_microseconds(each).tolist() for each in (spans.start - origin, spans.duration))
    on_ai_cpu = (spans.category == Category.HOST_OP).tolist() if target.kind == "ascend" else repeat(False, len(spans))
    for number, row, start, duration, on_cpu in zip(spans.name.tolist(), spans.lane.tolist(), starts, durations, on_ai_cpu, strict=True):
        name, lane = spans.names[number], spans.lanes[row]
        event = {"name": name.rsplit("/", 1)[-1], "ph": "X", "tid": lane.thread, "ts": start, "dur": duration, "pid": target.device}
        if on_cpu:
            event["pid"] = AI_CPU
        else:
            event["args"] = {"type": infos.get(name, (lane.title, {}))[0], "fullname": name, **infos.get(name, ("", {}))[1]}
        yield event


def _infos(recording: Recording) -> dict[str, tuple[str, dict[str, Any]]]:
    framework = recording.tables.get("framework")
    if framework is None:
        return {}
    return {name: (kind or "", info or {}) for name, kind, info in rows(framework, "full_op_name", "op_type", "op_info")}


def _communication(recording: Recording, origin: int) -> Iterator[dict[str, Any]]:
    """All of it; upstream shows the last stream of each step only."""
    reduces = recording.tables.get("reduces")
    if reduces is None:
        return
    for stream, index, name, start, end in rows(reduces, "stream", "index", "name", "start", "end"):
        times = {"ts": (start - origin) / 1e3, "dur": (end - start) / 1e3}
        yield {"name": f"stream_{stream}_{index}_{name}", "ph": "X", "tid": stream, **times, "pid": COMMUNICATION}
