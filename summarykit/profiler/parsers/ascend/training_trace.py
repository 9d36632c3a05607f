"""``training_trace.46.dev.profiler_default_tag.<id>.slice_<n>``: when each step began and ended, in records of 20 bytes.

Tags: 1 the forward pass starts, 2 the backward pass ends, 255 (65535 since December 2020) the step ends, 0 or any above the end's a step
begins; the others are starts and ends of communication, in turn on each stream.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from summarykit.profiler.parsers.ascend.binary import packed, table
from summarykit.profiler.recording import Table
from summarykit.shapes import Array, Ints

LAYOUT = packed(20, tag=("<u8", 0), task=("<u2", 8), stream=("<u2", 10), time=("<i8", 12))
FORWARD_START, BACKWARD_END, STEP_END, NEW_STEP_END = 1, 2, 255, 65_535


@dataclass(frozen=True, eq=False)
class Trace:
    """What the file says, in ticks.

    Attributes:
        steps: step (from 1, counted with those that are left out), start, end, fp_start, bp_end.
        reduces: step, stream, index (within step and stream), tag (of its start), start, end: communication.
    """

    steps: Table
    reduces: Table


def read(paths: list[Path], skipped: Counter[str], *, skip_first: bool = False) -> Trace:
    """Read the steps of one device.

    Args:
        paths: its slices in order.
        skipped: gets counts of steps that lack a point, of streams whose communication does not pair, of a second job's records.
        skip_first: the first step only filled the data queue.
    """
    raw = table(paths, LAYOUT, skipped, "training_trace")
    end_tag = _end_tag(raw)
    begins = (raw["tag"] == 0) | (raw["tag"] > end_tag)
    _check_job(raw["tag"][begins], skipped)
    step = _step_of(raw["tag"] == end_tag)
    current = _since_begin(begins, step) & (step < _count(raw, end_tag))
    steps = _steps(raw, step, current, end_tag)
    reduces = _reduces(raw, step, current & ~begins & (raw["tag"] > BACKWARD_END) & (raw["tag"] != end_tag), skipped)
    return _kept(steps, reduces, skipped, skip_first)


def _end_tag(raw: Array) -> int:
    first = raw["tag"][: np.argmax(raw["tag"] == STEP_END)] if (raw["tag"] == STEP_END).any() else raw["tag"]
    return NEW_STEP_END if (first == NEW_STEP_END).any() else STEP_END


def _check_job(tags: Array, skipped: Counter[str]) -> None:
    jobs = np.unique(tags[tags != 0])
    if len(jobs) > 1:
        skipped["steps of another job in the same file"] += int((tags[tags != 0] != tags[tags != 0][0]).sum())


def _step_of(ends: Array) -> Ints:
    """The step of each record, from 0; an end belongs to the step it ends."""
    return np.cumsum(ends) - ends


def _count(raw: Array, end_tag: int) -> int:
    return int((raw["tag"] == end_tag).sum())


def _since_begin(begins: Array, step: Ints) -> Array:
    """Records behind the last begin of their step: what came before it is of a step that was given up."""
    place = np.arange(len(step))
    last = np.full(int(step[-1]) + 1 if len(step) else 0, -1)
    last[step[begins]] = place[begins]         # of several the last stays
    return place > last[step] if len(step) else np.zeros(0, bool)


def _steps(raw: Array, step: Ints, current: Array, end_tag: int) -> Table:
    count = _count(raw, end_tag)
    end = raw["time"][raw["tag"] == end_tag]
    forward, backward = (_last_of_each(raw, step, current & (raw["tag"] == tag), count) for tag in (FORWARD_START, BACKWARD_END))
    start = np.concatenate([forward[:1], end[:-1]])
    return Table(step=np.arange(1, count + 1), start=start, end=end, fp_start=forward, bp_end=backward)


def _last_of_each(raw: Array, step: Ints, rows: Array, count: int) -> Ints:
    times = np.zeros(count, np.int64)
    times[step[rows]] = raw["time"][rows]
    return times


def _reduces(raw: Array, step: Ints, rows: Array, skipped: Counter[str]) -> Table:
    raw, step = raw[rows], step[rows]
    order = np.lexsort((raw["stream"], step))
    raw, step = raw[order], step[order]
    stream = raw["stream"].astype(np.int64)
    group, size, place = _groups(step, stream)
    paired = size[group] % 2 == 0
    skipped["communication of a stream in a step that does not pair"] += int((size % 2 == 1).sum())
    first = np.flatnonzero(paired & (place % 2 == 0))
    return Table(
        step=step[first] + 1, stream=stream[first], index=place[first] // 2, tag=raw["tag"][first].astype(np.int64),
        start=raw["time"][first], end=raw["time"][first + 1], order=order[first],
    )


def _groups(step: Ints, stream: Ints) -> tuple[Ints, Ints, Ints]:
    """Of rows in the order of step and stream: the group of each, the size of each group, the place of each in its group."""
    new = (np.diff(step, prepend=-1) != 0) | (np.diff(stream, prepend=-1) != 0)
    group = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    return group, np.bincount(group, minlength=0), np.arange(len(step)) - first[group] if len(step) else group


def _kept(steps: Table, reduces: Table, skipped: Counter[str], skip_first: bool) -> Trace:
    """Without steps that lack a point, which keep their numbers, and without the first where that is asked for."""
    complete = (steps["end"] != 0) & (steps["fp_start"] != 0) & (steps["bp_end"] != 0) & (steps["start"] != 0)
    wanted = steps["step"] > int(skip_first)
    skipped["steps without one of their points"] += int((wanted & ~complete).sum())
    keep = wanted & complete
    numbers = np.zeros(len(keep) + 1, np.int64)
    numbers[1:][keep] = steps["step"][keep] - int(skip_first)
    shown = numbers[reduces["step"]]
    rows = np.flatnonzero(shown)
    rows = rows[np.lexsort((reduces["order"][rows], shown[rows]))]
    kept_steps = Table({**{name: column[keep] for name, column in steps.items()}, "step": numbers[1:][keep]})
    kept_reduces = Table({**{name: column[rows] for name, column in reduces.items() if name != "order"}, "step": shown[rows]})
    return Trace(kept_steps, kept_reduces)
