"""From the rows of our records to the columns that every analysis takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from summarykit.profiler.parsers.record_frames import Frames
from summarykit.profiler.parsers.record_pipeline import pipeline
from summarykit.profiler.parsers.record_steps import steps
from summarykit.profiler.recording import Category, Lane, Spans, Table
from summarykit.shapes import Array, Ints

_UNKNOWN = "rows of something whose name was lost"
_PERIOD = 10_000_000


def spans_of(frames: Frames) -> Spans:
    """Spans of marks, hooks and stages; a sample of the stacks is a span of its innermost frame that lasts until the next look."""
    names, categories = _names(frames)
    found, sampled = frames.table("spans", "name", "lane", "start", "end"), _sampled(frames)
    name, lane = (np.concatenate([found[column], sampled[column]]) for column in ("name", "lane"))
    start, end = (np.concatenate([found[column], sampled[column]]) for column in ("start", "end"))
    lanes = _lanes(frames)
    known = (name >= 0) & (name < len(names)) & (lane >= 0) & (lane < len(lanes)) & (end >= start)
    if not known.all():
        frames.skipped[_UNKNOWN] += int((~known).sum())
    name, lane, start, end = name[known], lane[known], start[known], end[known]
    category = categories[name] if len(name) else np.empty(0, np.uint8)
    none = np.full(len(name), -1, np.int64)
    return Spans(start, end - start, name.astype(np.int32), category, lane.astype(np.int32), none, names, lanes)


def tables_of(frames: Frames) -> dict[str, Table]:
    """All tables that have rows: ``steps``, ``counters``, ``memory``, ``collectives``, ``samples`` with ``stacks``, ``pipeline``."""
    makers: dict[str, Callable[[Frames], Table]] = {
        "steps": steps,
        "counters": _counters,
        "memory": _memory,
        "collectives": _collectives,
        "samples": _samples,
        "stacks": _stacks,
        "pipeline": pipeline,
    }
    made = {name: make(frames) for name, make in makers.items()}
    return {name: table for name, table in made.items() if table.rows}


def _names(frames: Frames) -> tuple[list[str], Array]:
    entries = frames.entries("names", 0, "?")
    categories = [category if 0 <= category <= max(Category) else 0 for category, _ in entries]
    return [text for _, text in entries], np.array(categories, np.uint8)


def _lanes(frames: Frames) -> list[Lane]:
    rank = frames.told("rank", default=0)
    return [Lane(process, thread, title, rank=rank) for process, thread, title in frames.entries("lanes", 0, 0, "?")]


def _texts(frames: Frames, numbers: Ints) -> Array:
    """The names of these numbers, as objects."""
    names = np.array([*_names(frames)[0], "?"], object)
    known = (numbers >= 0) & (numbers < len(names))
    return names[np.where(known, numbers, -1)]


def _counters(frames: Frames) -> Table:
    found = frames.table("counters", "time", "counter", "value")
    return Table(time=found["time"], counter=_texts(frames, found["counter"]), value=found["value"].astype(np.float64))


def _memory(frames: Frames) -> Table:
    """``time``, ``device``, and in bytes what was allocated since the last row (``bytes``), is ``allocated`` and ``reserved``."""
    found = frames.table("memory", "time", "device", "bytes", "allocated", "reserved")
    return Table({name: column.astype(np.float64) if name in ("allocated", "reserved") else column for name, column in found.items()})


def _collectives(frames: Frames) -> Table:
    """``sequence`` in its ``group``, ``operation``, ``start`` (this rank's arrival) and ``end`` in ns, ``bytes`` (-1: none)."""
    found = frames.table("collectives", "sequence", "group", "operation", "start", "end", "bytes")
    return Table({**found, "operation": _texts(frames, found["operation"])})


def _samples(frames: Frames) -> Table:
    """``time``, ``lane``, ``stack``: a place in the table ``stacks``."""
    found = frames.table("samples", "time", "lane", "stack")
    known = (found["stack"] >= 0) & (found["stack"] < len(frames.lists.get("stacks", [])))
    return Table({name: column[known] for name, column in found.items()})


def _stacks(frames: Frames) -> Table:
    """``parent`` (the place of the caller's stack, or -1) and ``frame``: the function, file and line that it adds."""
    parent, frame = _stack_entries(frames)
    return Table(parent=parent, frame=_texts(frames, frame))


def _stack_entries(frames: Frames) -> tuple[Ints, Ints]:
    """Callers and numbers of frames."""
    entries = frames.entries("stacks", -1, -1)
    columns = np.array([[caller if caller < place else -1, name] for place, (caller, name) in enumerate(entries)], np.int64)
    parent, frame = columns.reshape(-1, 2).T
    return parent, frame


def _sampled(frames: Frames) -> dict[str, Ints]:
    """Samples as spans."""
    found = _samples(frames)
    _, frame = _stack_entries(frames)
    period = frames.told("collected", "stacks", "period_ns", default=_PERIOD)
    return {"name": frame[found["stack"]], "lane": found["lane"], "start": found["time"], "end": found["time"] + period}
