"""How a step splits: data wait, transfer, forward, backward, optimizer, communication, logging, other; and as three stretches.

Where nobody marked the phases they are read from what ran: PyTorch's own names tell data loading, backward and optimizer apart.
"""

from __future__ import annotations

import re

import numpy as np

from summarykit.profiler.analysis.choosing import covered, matching, named, on_devices
from summarykit.profiler.analysis.intervals import NEVER, Intervals, shares
from summarykit.profiler.recording import Category, Recording, Spans, Table
from summarykit.shapes import Array, Ints

ORDER = ("logging", "communication", "transfer", "data wait", "optimizer", "backward", "forward")
"""A moment that lies in two phases belongs to the first of them here: what lies within another is the more exact one."""

SHOWN = ("data wait", "transfer", "forward", "backward", "optimizer", "communication", "logging")
_OPTIMIZER = re.compile(r"Optimizer\.(step|zero_grad)#")
_BACKWARD = re.compile(r"autograd::engine::evaluate_function|.*(Backward\d*|AccumulateGrad)$")
_FROM_HOST = re.compile(r".*(HtoD|HostToDevice)")


def phases(recording: Recording, steps: Table) -> Table:
    """The phases of each step in ms: ``step``, the seven of ``SHOWN``, ``other``, ``total``."""
    roles = phase_times(recording, steps)
    found = shares({name: roles.get(name, NEVER) for name in ORDER}, steps["start"], steps["end"])
    milliseconds = {name: found[name] / 1e6 for name in (*SHOWN, "other")}
    return Table(step=steps["step"], **milliseconds, total=steps["duration"])


def phase_times(recording: Recording, steps: Table) -> dict[str, Intervals]:
    """When each phase was on, over all steps; phases may lie within each other."""
    spans = recording.spans
    marked = spans.of(Category.PHASE)
    if marked.any():
        found = {name: covered(spans, marked & named(spans, (name,))) for name in ORDER}
        return found | {"optimizer": _updates(found["optimizer"], found["backward"])}
    if (edges := _told(recording, steps)) is not None:    # what is before forward reads data, what is behind backward updates
        forward, backward = edges
        before = Intervals.union(steps["start"][forward >= 0], forward[forward >= 0])
        after = Intervals.union(backward[backward >= 0], steps["end"][backward >= 0])
        return {**_by_names(spans, steps), "data wait": before, "optimizer": after}
    return _by_names(spans, steps)


def classic(recording: Recording, steps: Table) -> Table:
    """Three stretches of each step in ms, as MindSpore tells them.

    Returns:
        ``step``, ``iteration_interval`` (until forward begins), ``fp_and_bp`` (from there until backward has ended), ``tail`` (until the
        step's end), ``total``. Where a step has no backward the second one goes to its end; where it has no forward either, the first one.
    """
    forward, backward = _edges(recording, steps)
    start, end = steps["start"], steps["end"]
    begun = np.where(forward >= start, forward, end)
    done = np.where(backward >= begun, backward, end)
    times = {"iteration_interval": begun - start, "fp_and_bp": done - begun, "tail": end - done}
    return Table(step=steps["step"], **{name: time / 1e6 for name, time in times.items()}, total=steps["duration"])


def _edges(recording: Recording, steps: Table) -> tuple[Ints, Ints]:
    """Where forward begins and backward ends in each step; -1 where there is none."""
    if (told := _told(recording, steps)) is not None:
        return told
    found = phase_times(recording, steps)
    before = found["data wait"] | found["transfer"] | found["logging"]
    forward = (found["forward"] | found["backward"]) - before
    return _first(forward, _waited(found, steps), steps["end"]), _last(found["backward"], steps)


def _waited(found: dict[str, Intervals], steps: Table) -> Ints:
    """Where each step has its first batch: the operators of a loader, and those before it, are no forward pass; else its start."""
    wait, start = found["data wait"], steps["start"]
    place = np.searchsorted(wait.end, start, side="right")
    began, until = (np.append(edge, np.iinfo(np.int64).max)[place] for edge in (wait.start, wait.end))
    backward = _first(found["backward"], start, steps["end"])
    return np.where((until < steps["end"]) & ((backward < 0) | (began < backward)), until, start)


def _told(recording: Recording, steps: Table) -> tuple[Ints, Ints] | None:
    """The same as the recording tells it itself, if it does."""
    told = recording.tables.get("steps", Table())
    if not (steps.rows and "fp_start" in told and (told["fp_start"] >= 0).any()):
        return None
    order = np.argsort(told["start"], kind="stable")
    place = order[np.searchsorted(told["start"], steps["start"], sorter=order)]
    return told["fp_start"][place], told["bp_end"][place]


def _first(role: Intervals, since: Ints, until: Ints) -> Ints:
    place = np.searchsorted(role.end, since, side="right")
    start = np.append(role.start, np.iinfo(np.int64).max)[place]
    return np.where(start < until, np.maximum(start, since), -1)


def _last(role: Intervals, steps: Table) -> Ints:
    place = np.searchsorted(role.start, steps["end"], side="left") - 1
    end = np.append(role.end, -1)[place]
    return np.where((place >= 0) & (end > steps["start"]), np.minimum(end, steps["end"]), -1)


def _by_names(spans: Spans, steps: Table) -> dict[str, Intervals]:
    device = on_devices(spans)
    host = ~device & spans.of(Category.HOST_OP, Category.USER)
    backward = host & matching(spans, _BACKWARD)
    update = host & matching(spans, _OPTIMIZER)
    passes = _hull(covered(spans, backward), steps)
    return {
        "logging": NEVER,
        "communication": covered(spans, spans.of(Category.COMMUNICATION) & ~device),
        "transfer": covered(spans, _transfers(spans) & ~device),
        "data wait": covered(spans, spans.of(Category.DATA) & ~device & ~_is_stage(spans, steps)),
        "optimizer": _updates(covered(spans, update), passes),
        "backward": passes,
        "forward": covered(spans, ~device & spans.of(Category.HOST_OP, Category.RUNTIME) & ~backward & ~update),
    }


def _updates(optimizer: Intervals, backward: Intervals) -> Intervals:
    """An optimizer that is given a closure (Lightning does that) runs forward and backward itself: what lies behind them is the update."""
    last = np.searchsorted(backward.start, optimizer.end, side="left") - 1
    inside = (last >= 0) & (np.append(backward.start, 0)[last] > optimizer.start)
    begin = np.where(inside, np.append(backward.end, 0)[last], optimizer.start)
    return Intervals.union(begin, optimizer.end)


def _transfers(spans: Spans) -> Array:
    """Calls that send something to a device."""
    sent = spans.of(Category.MEMCPY) & matching(spans, _FROM_HOST) & (spans.correlation >= 0)
    called = spans.of(Category.RUNTIME)
    called[called] = np.isin(spans.correlation[called], spans.correlation[sent])
    return called


def _is_stage(spans: Spans, steps: Table) -> Array:
    """Stages of the input that run in a process of their own: nobody waits for them directly."""
    trained = spans.lane[spans.of(Category.STEP)]
    processes = np.array([lane.process for lane in spans.lanes] or [-1])
    here = np.unique(processes[trained])
    return ~np.isin(processes[spans.lane], here) if len(here) and steps.rows else np.zeros(len(spans), np.bool_)


def _hull(role: Intervals, steps: Table) -> Intervals:
    """In each step from the first moment to the last."""
    first, last = _first(role, steps["start"], steps["end"]), _last(role, steps)
    return Intervals.union(np.where(first >= 0, first, 0), np.where(first >= 0, last, 0))
