"""``{ascend,gpu,cpu}_timeline_display_<d>.json`` and ``…_summary_<d>.json``: what ran when, for MindInsight's picture of it (µs)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Category, Recording
from summarykit.shapes import Floats, Ints

LIMIT = 20 << 20          # bytes: MindInsight's page loads the file whole
AI_CPU, COMMUNICATION = 9_000, 10_000      # processes in the picture
_SHOWN = (Category.HOST_OP, Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.COMMUNICATION)


def write(recording: Recording, target: Target) -> None:
    """Write both files; nothing where nothing ran."""
    chosen = _chosen(recording, target)
    if not len(chosen):
        return
    if target.kind == "ascend":
        target.text("output_timeline_data_{}.txt", "".join(_lines(recording, chosen, target)))
    prefix = f"{target.kind}_" if target.dialect.kernel_words else ""
    target.text(prefix + "timeline_display_{}.json", _joined(_events(recording, chosen, target)))
    target.json(prefix + "timeline_summary_{}.json", summary(recording, chosen, target))


def _chosen(recording: Recording, target: Target) -> Ints:
    """The spans that are shown: of a device those of operators that have a name."""
    spans = recording.spans
    chosen = spans.of(*_SHOWN) if len(spans) else np.zeros(0, bool)
    framework = recording.tables.get("framework")
    if target.kind == "ascend" and framework is not None:
        named = set(framework["full_op_name"].tolist())
        chosen &= np.array([name in named for name in spans.names] or [False])[spans.name] | (spans.category == Category.HOST_OP)
    return np.flatnonzero(chosen)


def _lines(recording: Recording, chosen: Ints, target: Target) -> Iterator[str]:
    """Milliseconds, until 0.5 from the first start on, later from the device's own zero."""
    spans = recording.spans
    chosen = chosen[spans.category[chosen] == Category.KERNEL]
    origin = 0 if target.dialect.duration_first or not len(chosen) else int(spans.start[chosen[0]])
    yield "op_name, stream_id, start_time(ms), duration(ms)\n"
    starts, durations = ((column[chosen] / 1e6).tolist() for column in (spans.start - origin, spans.duration))
    for place, start, duration in zip(chosen.tolist(), starts, durations, strict=True):
        yield f"{spans.names[spans.name[place]]},{spans.lanes[spans.lane[place]].thread},{start},{duration}\n"


def summary(recording: Recording, chosen: Ints, target: Target) -> dict[str, float]:
    """Numbers about what is shown: total_time (µs), num_of_streams, num_of_ops, op_exe_times."""
    spans = recording.spans
    numbers: dict[str, float] = {
        "total_time": sum(_microseconds(spans.duration[chosen]).tolist()), "num_of_streams": len(np.unique(spans.lane[chosen])),
        "num_of_ops": len(np.unique(spans.name[chosen])), "op_exe_times": len(chosen),
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


def _events(recording: Recording, chosen: Ints, target: Target) -> Iterator[dict[str, Any]]:
    spans = recording.spans
    origin = int(spans.start[chosen[0]])
    infos = _infos(recording)
    starts, durations = (_microseconds(each).tolist() for each in (spans.start[chosen] - origin, spans.duration[chosen]))
    for place, start, duration in zip(chosen.tolist(), starts, durations, strict=True):
        name, lane = spans.names[spans.name[place]], spans.lanes[spans.lane[place]]
        on_ai_cpu = target.kind == "ascend" and spans.category[place] == Category.HOST_OP
        event = {"name": name.rsplit("/", 1)[-1], "ph": "X", "tid": lane.thread, "ts": start, "dur": duration, "pid": target.device}
        if on_ai_cpu:
            event["pid"] = AI_CPU
        else:
            event["args"] = {"type": infos.get(name, (lane.title, {}))[0], "fullname": name, **infos.get(name, ("", {}))[1]}
        yield event
    yield from _communication(recording, origin)


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
