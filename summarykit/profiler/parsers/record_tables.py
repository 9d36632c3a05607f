"""From the rows of our records to the columns that every analysis takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from summarykit.profiler.parsers.record_frames import Frames
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
    """All tables that have rows: ``steps``, ``counters``, ``collectives``, ``samples`` with ``stacks``, ``pipeline``."""
    makers: dict[str, Callable[[Frames], Table]] = {
        "steps": _steps,
        "counters": _counters,
        "collectives": _collectives,
        "samples": _samples,
        "stacks": _stacks,
        "pipeline": _pipeline,
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


def _steps(frames: Frames) -> Table:
    """As they were told; else each optimizer step ends one. ``fp_start`` and ``bp_end`` are the edges of forward and backward."""
    told = frames.table("steps", "step", "start", "begin", "end")
    if not len(told["step"]):
        told = _by_optimizer(frames)
    begins, _ = _phase(frames, "forward")
    _, ends = _phase(frames, "backward")
    return Table(
        step=told["step"],
        start=told["start"],
        end=told["end"],
        fp_start=_first_within(begins, told["begin"], told["end"]),
        bp_end=_last_within(ends, told["begin"], told["end"]),
    )


def _by_optimizer(frames: Frames) -> dict[str, Ints]:
    """Nobody told of steps: each goes from the end of one update to that of the next.

    An update is what optimizers do behind a backward pass, before anything else is done.
    """
    start, end = _phase(frames, "optimizer")
    backward, _ = _phase(frames, "backward")
    others = np.sort(np.concatenate([_phase(frames, name)[0] for name in ("data wait", "transfer", "forward", "backward")]))
    passes, group = np.searchsorted(backward, start), np.searchsorted(others, start)
    update = np.append(passes[:1] > 0, passes[1:] > passes[:-1])    # the first after another backward pass
    edge = np.array([end[group == one].max() for one in group[update].tolist()], np.int64)
    opened = frames.told("started", "perf", default=int(edge[0]) if len(edge) else 0)
    begin = np.append(opened, edge)[:-1]
    return {"step": np.arange(1, len(edge) + 1), "start": begin, "begin": begin, "end": edge}


def _phase(frames: Frames, phase: str) -> tuple[Ints, Ints]:
    """Starts and ends of one phase, by start."""
    numbers = [number for number, entry in enumerate(frames.entries("names", 0, "?")) if entry == (int(Category.PHASE), phase)]
    spans = frames.table("spans", "name", "start", "end")
    chosen = np.flatnonzero(np.isin(spans["name"], numbers))
    chosen = chosen[np.argsort(spans["start"][chosen], kind="stable")]
    return spans["start"][chosen], spans["end"][chosen]


def _first_within(times: Ints, begin: Ints, end: Ints) -> Ints:
    """The first of ascending times in each stretch; -1 where there is none."""
    place = np.searchsorted(times, begin)
    found = np.append(times, -1)[place]
    return np.where((found >= begin) & (found < end), found, -1)


def _last_within(times: Ints, begin: Ints, end: Ints) -> Ints:
    times = np.sort(times)
    place = np.searchsorted(times, end, side="right") - 1
    found = np.append(times, -1)[place]
    return np.where((found > begin) & (found <= end), found, -1)


def _counters(frames: Frames) -> Table:
    found = frames.table("counters", "time", "counter", "value")
    return Table(time=found["time"], counter=_texts(frames, found["counter"]), value=found["value"].astype(np.float64))


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


def _pipeline(frames: Frames) -> Table:
    """The stages of the input pipeline, each before those that feed it: what MindSpore tells of its own.

    Columns: op_id (0 for the one that the training pulls from), op_type, num_workers, sizes (a list of int: items that were ready at each
    ``next``; None without a queue), capacity (0 without), interval (0: the sizes are no regular samples), parent (-1 for the first),
    children (a list); and pulled (items), total and self (ns in its ``next``, with and without the stages before it).
    """
    pulls = frames.table("pulls", "stage", "parent", "start", "end", "queued")
    stages = {entry[0]: entry for entry in frames.entries("stages", -1, "?", 0, 0)}
    seen = [stage for stage in stages if (pulls["stage"] == stage).any()]
    parents = {stage: Counter(pulls["parent"][pulls["stage"] == stage].tolist()).most_common(1)[0][0] for stage in seen}
    order = sorted(seen, key=lambda one: (_depth(one, parents), one))
    number = {stage: place for place, stage in enumerate(order)}
    rows = [_stage(stages[stage], pulls, parents, number) for stage in order]
    names = ("op_id", "op_type", "num_workers", "sizes", "capacity", "interval", "parent", "children", "pulled", "total", "self")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return Table({name: _column(column, name in ("op_type", "sizes", "children")) for name, column in zip(names, columns, strict=True)})


def _stage(entry: tuple[Any, ...], pulls: dict[str, Ints], parents: dict[int, int], number: dict[int, int]) -> tuple[Any, ...]:
    stage, name, workers, capacity = entry
    own, inner = pulls["stage"] == stage, pulls["parent"] == stage
    total, within = ((pulls["end"] - pulls["start"])[chosen].sum() for chosen in (own, inner))
    alone = total if capacity else total - within    # a thread of its own pulls for a stage with a queue
    children = [number[other] for other, parent in parents.items() if parent == stage]
    sizes = pulls["queued"][own].tolist() if capacity else None
    around = number.get(parents[stage], -1)
    return number[stage], name, workers, sizes, capacity, 0, around, sorted(children), int(own.sum()), int(total), int(alone)


def _depth(stage: int, parents: dict[int, int]) -> int:
    depth = 0
    while (stage := parents.get(stage, -1)) != -1 and depth < len(parents):
        depth += 1
    return depth


def _column(values: Any, objects: bool) -> Array:
    column = np.empty(len(values), object if objects else np.int64)
    for place, value in enumerate(values):
        column[place] = value
    return column
